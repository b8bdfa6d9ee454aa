package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// environment takes the directory of a virtual environment that a traceback's paths name, and
// with it how its Python is called. Other directories, such as the system's, are nobody's to call.
func environment(of *Place, dir string) {
	if of.Interpreter != "" || len(dir) > 80 || !plainPath().MatchString(dir) {
		return
	}
	base := strings.ToLower(dir[strings.LastIndexAny(dir, `/\`)+1:])
	windows := strings.Contains(dir, `\`)
	lower := strings.ToLower(strings.ReplaceAll(dir, `\`, "/"))
	switch {
	case strings.Contains(lower, "conda") || strings.Contains(lower, "/envs/") || strings.Contains(lower, "miniforge"):
	case strings.HasSuffix(base, "env") && windows:
		of.Interpreter = dir + `\Scripts\python.exe`
	case strings.HasSuffix(base, "env"):
		of.Interpreter = dir + "/bin/python"
	case windows && base == "python" && strings.HasSuffix(lower, "/system/python"): // of a program that brings its own
		of.Interpreter = dir + `\python.exe`
	}
}

// plainPath is a path that a shell takes as it stands.
var plainPath = lazy.Regexp(`^(?:[A-Za-z]:)?[\w./\\+-]+$`)

// twoVersions notes a line that sets what a list of packages says against what
// Python says.
func twoVersions(r *Reader, m []string, s Evidence) {
	if !imports().MatchString(r.whole) {
		return
	}
	seen := xslices.Set(fullVersion().FindAllString(r.whole, -1), func(v string) string { return v })
	for v := range seen {
		for o := range seen {
			if v != o && Public(v) == o {
				delete(seen, o) // the same without its label
			}
		}
	}
	if len(seen) == 2 {
		r.say(&r.c.Says.TwoVersions, s)
	}
}

var (
	imports     = lazy.Regexp(`(?i)__version__|import torch|\bpython\w*\b.{0,20}(?:prints?|says|gives|shows|reports)`)
	fullVersion = lazy.Regexp(`\b[012]\.\d{1,2}\.\d\b(?:\+\w+)?`)
)

// pythonPath is an interpreter with its directory.
const pythonPath = `(?:[a-z]:\\|/|~/)[^'"\n]*python[\w.]*(?:\.exe)?`

// interpreter notes one Python that somebody says is running.
func (r *Reader) interpreter(file string, s Evidence) {
	file = strings.ToLower(strings.ReplaceAll(strings.Trim(file, `'" `), `\\`, `\`))
	for _, i := range r.c.Interpreters {
		if i.Path == file {
			return
		}
	}
	if len(r.c.Interpreters) < 8 {
		r.c.Interpreters = append(r.c.Interpreters, Interpreter{file, s})
	}
}

// An Interpreter is a Python as sys.executable names it.
type Interpreter struct {
	Path string
	At   Evidence
}
