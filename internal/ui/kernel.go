package ui

import (
	"fmt"
	"io"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// KernelText says what follows the plan's steps, since it reaches beyond the
// environment; "" where Jupyter is told nothing.
func KernelText(p *plan.Plan, dir, name string) string {
	if name == "" {
		return ""
	}
	argv := apply.KernelArgv(dir, name)
	if p.Basis.Request.Described { // its path there is not known here
		argv[0] = dir + "/" + p.Interpreter()
	}
	return fmt.Sprintf("\nthen, beyond %s: register it with Jupyter as the kernel %s\n  %s\n",
		Clean(dir), name, Clean(strings.Join(argv, " ")))
}

// KernelScript is the same as the last lines of a plan's script: the name holds nothing
// that a shell reads otherwise (badKernel).
func KernelScript(name, python string, powershell bool) text.Quoted {
	switch {
	case name == "":
		return text.Const("")
	case powershell:
		return text.Form("\n# beyond the environment: a kernel for Jupyter\nInvoke-Step @{} ($gen + '/%s') "+
			"@('-I', '-m', 'ipykernel', 'install', '--user', '--name', '%s', '--display-name', '%[2]s')\n", text.Word(python), text.Word(name))
	}
	return text.Form("\n# beyond the environment: a kernel for Jupyter, where it looks for one\n"+
		`user ${JUPYTER_DATA_DIR:+"JUPYTER_DATA_DIR=$JUPYTER_DATA_DIR"} ${XDG_DATA_HOME:+"XDG_DATA_HOME=$XDG_DATA_HOME"} \`+"\n"+
		`  "$target"/%s -I -m ipykernel install --user --name %s --display-name %[2]s`+"\n", text.Word(python), text.Word(name))
}

// WriteContents shows every line that a plan puts into a file.
func WriteContents(w io.Writer, p *plan.Plan) error {
	for i, s := range p.Steps {
		path, lines := "", []string(nil)
		switch {
		case s.Write != nil:
			path, lines = s.Write.Path, strings.Split(strings.TrimSuffix(s.Write.Content, "\n"), "\n")
		case s.Block != nil:
			path, lines = s.Block.Path, s.Block.Lines
		default:
			continue
		}
		if _, err := fmt.Fprintf(w, "step %d writes into %s:\n", i+1, Clean(path)); err != nil {
			return err
		}
		for _, l := range lines {
			if _, err := fmt.Fprintf(w, "    %s\n", Clean(l)); err != nil {
				return err
			}
		}
	}
	return nil
}
