package page

import (
	"fmt"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/resolver"
)

// A Command is one or more lines to copy, and what they do.
type Command struct {
	Title string   `json:"title"`
	Shell string   `json:"shell"` // a POSIX shell, PowerShell; "" not for a shell: text
	Lines []string `json:"lines"`
}

// pythonProgram is how a Python of a version is started where nothing is known of the
// machine.
func pythonProgram(h machine.Machine, version string) string {
	return say.Either(h.Platform.OS == "windows", "python", "python"+version) // of python.org's installer; py.exe takes its version as an argument
}

// toCopy are the steps of a plan as commands, then envfix's own.
func toCopy(p *plan.Plan, q question, res *resolver.Resolution) []Command {
	shell := say.Either(q.machine.Platform.OS == "windows", "PowerShell", "sh")
	switch res.Decision {
	case resolver.Split:
		return apart(q, res, shell)
	case resolver.NoSolution:
		return []Command{{Title: "Nothing to install. Every build, and what stands against it", Shell: shell,
			Lines: []string{commandLine("uvx envfix-gpu why", q.words.against())}}}
	}
	var lines, byHand []string
	for _, s := range p.Steps {
		switch {
		case s.Run != nil && !s.Root && s.ID != "check" && s.ID != "python":
			lines = append(lines, line(s.Run.Argv, shell))
		case s.Manual != nil:
			byHand = append(byHand, s.Manual.Text)
		}
	}
	var out []Command
	if len(byHand) > 0 {
		out = append(out, Command{Title: "By hand", Lines: byHand})
	}
	if len(lines) > 0 {
		out = append(out, Command{Title: "With " + p.Target.Manager, Shell: shell, Lines: append(lines, proof(p, shell))})
	}
	own := commandLine("uvx envfix-gpu apply", q.words.Args(false))
	return append(out, Command{Title: "Or let envfix do it there: it looks at the machine, shows every step, asks, and proves that torch computes",
		Shell: shell, Lines: []string{own}})
}

// apart are the commands for an environment for each group of GPUs, as `envfix plan`
// names them.
func apart(q question, res *resolver.Resolution, shell string) []Command {
	var lines []string
	for i, e := range res.Environments {
		if e.Choice == nil {
			continue
		}
		w := q.words
		w.Request.GPUs = strings.Trim(strings.ReplaceAll(fmt.Sprint(e.GPUs), " ", ","), "[]")
		lines = append(lines, commandLine("uvx envfix-gpu apply", append(w.Args(false), "--env", fmt.Sprintf(".venv-%d", i+1))))
	}
	return []Command{{Title: "On that machine, an environment for each: envfix shows every step, asks, and proves that torch computes",
		Shell: shell, Lines: lines}}
}

// against are the arguments of `envfix why` for the torch that was asked for.
func (w Words) against() []string {
	torch := "torch"
	for _, p := range w.Packages {
		if r, err := describe.Requirement(p); err == nil && r.Name == "torch" && r.URL == "" {
			torch = strings.TrimSpace(p)
		}
	}
	w.Packages = nil
	return append([]string{torch}, w.Args(true)...)
}

// proof asks the torch that was installed what it sees.
func proof(p *plan.Plan, shell string) string {
	code := "import torch; print(torch.__version__, torch.cuda.is_available())"
	if p.Build == "mps" {
		code = "import torch; print(torch.__version__, torch.backends.mps.is_available())"
	}
	if p.Build == "xpu" {
		code = "import torch; print(torch.__version__, torch.xpu.is_available())"
	}
	return line([]string{say.Either(shell == "PowerShell", "{gen}/Scripts/python", "{gen}/bin/python"), "-c"}, shell) + fmt.Sprintf(" %q", code)
}

// line is a command for a shell, with the environment in .venv. Both shells take a
// word in single quotes as it is.
func line(argv []string, shell string) string {
	var words []string
	for i, a := range argv {
		a = strings.ReplaceAll(a, "{gen}", ".venv")
		if i == 0 && shell == "PowerShell" && strings.HasPrefix(a, ".venv/") {
			a = `.\` + strings.ReplaceAll(a, "/", `\`)
			words = append(words, a)
			continue
		}
		words = append(words, text.Command(a))
	}
	return strings.Join(words, " ")
}
