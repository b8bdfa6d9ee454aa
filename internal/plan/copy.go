package plan

import (
	_ "embed"
)

// copyProgram is what the new environment's Python runs to copy packages; see [Copy].
//
//go:embed copy.py
var copyProgram string

const (
	BringsUV  = "uv"                   // the id of the step that installs uv for envfix itself
	Copied    = "copied"               // the id of the step that installs what a [Copy] made
	CopiedDir = "{gen}/envfix-carried" // where that lies, until it is installed
)

// Argv is the command that carries c out, for an environment in dir: with -S no site
// of the new environment begins before the copies are made.
func (c Copy) Argv(python, dir, to string) []string {
	return append([]string{python, "-I", "-S", "-c", copyProgram, dir, to}, c.Packages...)
}
