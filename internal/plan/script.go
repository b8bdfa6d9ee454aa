package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/text"
	"envfix/resolver"
)

// Words returns r as POSIX shell words, its variables first, each quoted;
// "{gen}" and "{tools}" become "$gen" and "$tools", and so do a script's "{uv}",
// "{python}" and "{conda}". Its error names an argument
// that no POSIX shell can be given.
func (r Run) Words() ([]string, error) {
	var q quoter
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, k+"="+q.word(r.Env[k]))
	}
	for _, a := range r.Argv {
		words = append(words, q.word(a))
	}
	return words, q.fault
}

// A quoter quotes outside text, and keeps the first fault: that no shell can be given
// some of it.
type quoter struct{ fault error }

func (q *quoter) fails(err error) {
	if q.fault == nil {
		q.fault = err
	}
}

func (q *quoter) by(quote func(string) (string, error), s string) string {
	quoted, err := quote(s)
	q.fails(err)
	return quoted
}

// word is the one function that writes outside text into a shell script.
func (q *quoter) word(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for s != "" {
		at, name := nextPlaceholder(s)
		if piece := s[:at]; piece != "" {
			b.WriteString(q.by(Quote, piece))
		}
		if name == "" {
			break
		}
		b.WriteString(`"$` + name + `"`)
		s = s[at+len(name)+2:]
	}
	return b.String()
}

// Quote returns s as one POSIX shell word. Its error says that s has characters
// that would reach the terminal of whoever reads the word.
func Quote(s string) (string, error) {
	q, err := text.POSIX(s)
	return q.String(), err
}

// nextPlaceholder finds the first "{gen}", "{tools}" … of s; without one it
// returns the length of s.
func nextPlaceholder(s string) (at int, name string) {
	at = len(s)
	for _, n := range []string{"gen", "tools", "uv", "python", "conda"} {
		if i := strings.Index(s, "{"+n+"}"); i >= 0 && i < at {
			at, name = i, n
		}
	}
	return at, name
}

// Script returns the steps as a POSIX script that can be read, kept and run
// without envfix, on this machine or another: it finds uv, Python and conda there,
// or brings uv, and takes proxies, certificates and caches from there. It stops at the first command that fails and at a step for a
// person; `envfix apply` does more: it locks, journals, resumes and rolls back.
func Script(p *Plan) (string, error) {
	s := script{p: p}
	s.line("#!/bin/sh")
	s.line("# envfix plan " + text.Printable(p.ID))
	s.line("# " + text.Printable(summary(p)))
	for _, w := range p.Warnings {
		s.line("# warning: " + text.Printable(w))
	}
	s.line("set -eu")
	s.variables()
	if err := errors.Join(p.named(), s.fault); err != nil {
		return "", err
	}
	for i, step := range p.Steps {
		if s.step(i, step); s.fault != nil {
			return "", fmt.Errorf("step %q: %w", step.ID, s.fault)
		}
	}
	switch {
	case len(p.Steps) > 0:
	case p.Decision == resolver.UpgradeDriver, p.Decision == resolver.PinDriverBranch:
		s.line("echo 'nothing was done: this needs another driver, which `envfix plan --change-driver --sh` plans' >&2")
		s.line("exit 1")
	default:
		s.line("echo 'nothing to do'")
	}
	return s.b.String(), nil
}

// summary says in one line what the script is for.
func summary(p *Plan) string {
	s := string(p.Decision)
	if p.Torch != "" {
		return fmt.Sprintf("%s: torch %s, build %s, Python %s", s, p.Torch, p.Build, p.Python)
	}
	if p.Driver.Branch != nil {
		s += ": driver branch " + *p.Driver.Branch
	}
	if p.Then != nil {
		s += fmt.Sprintf(", then torch %s, build %s", p.Then.Torch, p.Then.Build)
	}
	return s
}

type script struct {
	quoter
	p     *Plan
	b     strings.Builder
	found []string // programs that the script has looked for
}

func (s *script) line(l string) { s.b.WriteString(l + "\n") }

func (s *script) variables() {
	dir := s.word(s.p.Target.Dir)
	if slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Manual != nil }) {
		s.line("from=${1:-1} # the step to begin with, after one that is done by hand")
	}
	s.line("target=" + dir)
	if s.p.Target.InPlace || !s.buildsAside() {
		s.line(`gen=$target`)
	} else {
		s.line(`gen=$PWD/.envfix/gens/$(date +%Y%m%d%H%M%S)`)
		s.line(`mkdir -p "$PWD/.envfix/gens"`)
	}
	s.line(`tools=${XDG_STATE_HOME:-"$HOME/.local/state"}/envfix/tools`)
	s.line(`mkdir -p "$tools"`)
	s.line(`root() { if [ "$(id -u)" -eq 0 ]; then env "$@"; else sudo env "$@"; fi; }`)
	s.userFunction()
	for _, step := range s.p.Steps {
		if step.Run != nil && !step.Root && !bringsUV(step) {
			s.tools(*step.Run)
		}
	}
}

// buildsAside reports whether the script needs a place for a new environment: one
// for an administrator does not.
func (s *script) buildsAside() bool {
	return slices.ContainsFunc(s.p.Steps, func(t Step) bool { return !t.Root && t.Manual == nil })
}

// step writes one step. Where a person has to do one in between, every step can
// be skipped, so that the script goes on behind it.
func (s *script) step(i int, step Step) {
	title := s.word(fmt.Sprintf("step %d of %d: %s", i+1, len(s.p.Steps), text.Printable(step.Title)))
	byHand := slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Manual != nil })
	if bringsUV(step) || bringsPython(step) && s.makesVenv() { // done where uv and Python are looked for
		return
	}
	s.line("")
	s.line("# " + text.Printable(step.Why))
	if byHand {
		s.line(fmt.Sprintf(`if [ "$from" -le %d ]; then`, i+1))
	}
	s.line("echo " + title)
	s.action(i, step)
	if byHand {
		s.line("fi")
	}
}

// action writes what a step does.
func (s *script) action(i int, step Step) {
	switch {
	case step.Run != nil && step.Root:
		s.root(step)
	case step.Run != nil:
		words, err := s.withPython(s.elsewhere(*step.Run)).Words()
		s.fails(err)
		line := "user " + strings.Join(words, " ")
		if len(step.Run.Known) > 0 {
			line += " || echo 'see whether these are the complaints of the old environment'"
		}
		s.line(line)
		if step.ID == Copied {
			s.line(`rm -r "$gen"` + strings.TrimPrefix(CopiedDir, "{gen}"))
		}
	case step.Copy != nil:
		s.copy(*step.Copy)
	case step.Write != nil && step.Root:
		s.rootWrite(*step.Write)
	case step.Write != nil:
		s.write(*step.Write)
	case step.Block != nil:
		s.block(*step.Block)
	case step.Manual != nil:
		s.manual(i, step)
	case step.Verify != nil:
		s.verify(*step.Verify)
	case step.Switch != nil:
		s.line(`if [ -e "$target" ] && [ ! -L "$target" ]; then mv "$target" "$target.before"; fi`)
		s.line(`ln -sfn "$gen" "$target.next"`)
		// -T, which makes it one rename, is not in every mv (macOS).
		s.line(`mv -T "$target.next" "$target" 2>/dev/null || { rm -f "$target"; mv "$target.next" "$target"; }`)
	}
}

// manual writes what a person has to do, and ends the script there.
func (s *script) manual(i int, step Step) {
	if step.ID != "reboot" { // whose title says it all
		s.line("echo " + s.word(text.Printable(step.Manual.Text)))
	}
	if i+1 < len(s.p.Steps) {
		s.line(fmt.Sprintf("echo 'then run this script again with the argument %d'", i+2))
	}
	s.line(fmt.Sprintf("exit %d", step.Manual.exit()))
}

// exit is the status with which a script ends at m, as apply does: 7 for a reboot, 6
// for whatever else a person has to do.
func (m *Manual) exit() int {
	if m.Reboot {
		return 7
	}
	return 6
}

func (s *script) write(w Write) {
	path := s.word(w.Path)
	s.line(fmt.Sprintf("printf %%s %s >%s", s.word(w.Content), path))
	s.line(fmt.Sprintf("chmod %o %s", w.Mode&0o777, path))
}

func (s *script) block(b Block) {
	path := s.word(b.Path)
	if b.Backup != "" {
		backup := s.word(b.Backup)
		s.line("[ -e " + backup + " ] || cp -p " + path + " " + backup)
	}
	words := []string{}
	for _, l := range slices.Concat([]string{"# >>> envfix " + b.Name + " >>>"}, b.Lines, []string{"# <<< envfix " + b.Name + " <<<"}) {
		words = append(words, s.word(l))
	}
	s.line(`printf '%s\n' ` + strings.Join(words, " ") + " >>" + path)
}

// verify writes the short form of the proof: the imports and what torch says of
// itself.
func (s *script) verify(v Verify) {
	visible := ""
	if v.CUDAVisible != "" {
		visible = "CUDA_VISIBLE_DEVICES=" + s.word(v.CUDAVisible) + " "
	}
	python := `"$gen"/bin/python`
	if s.p.Basis.Facts.Platform.OS == "windows" {
		python = `"$gen"/Scripts/python`
	}
	s.line("user " + visible + python + " -I -c " + s.word(proofCode(v)))
}

// proofCode is the Python of the short proof.
func proofCode(v Verify) string {
	code := "import " + strings.Join(v.Imports, ", ")
	check := func(what, want string) {
		code += fmt.Sprintf("; assert %s == %q, %s", what, want, what)
	}
	if _, label, _ := strings.Cut(v.Torch, "+"); label != "" {
		check("torch.__version__", v.Torch)
	} else if v.Torch != "" { // whichever label the index's build has
		check(`torch.__version__.split("+")[0]`, v.Torch)
	}
	if v.CUDA != "" {
		check("torch.version.cuda", v.CUDA)
	}
	if v.GPUs > 0 {
		code += fmt.Sprintf("; assert torch.cuda.device_count() == %d, torch.cuda.device_count()", v.GPUs)
	}
	return code
}
