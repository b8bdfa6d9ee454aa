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
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		v, err := quote(r.Env[k])
		if err != nil {
			return nil, err
		}
		words = append(words, k+"="+v)
	}
	for _, a := range r.Argv {
		q, err := quote(a)
		if err != nil {
			return nil, err
		}
		words = append(words, q)
	}
	return words, nil
}

// quote is the one function that writes outside text into a shell script.
func quote(s string) (string, error) {
	if s == "" {
		return "''", nil
	}
	var b strings.Builder
	for s != "" {
		at, name := nextPlaceholder(s)
		if piece := s[:at]; piece != "" {
			q, err := Quote(piece)
			if err != nil {
				return "", err
			}
			b.WriteString(q)
		}
		if name == "" {
			break
		}
		b.WriteString(`"$` + name + `"`)
		s = s[at+len(name)+2:]
	}
	return b.String(), nil
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
	if err := errors.Join(p.named(), s.variables()); err != nil {
		return "", err
	}
	for i, step := range p.Steps {
		if err := s.step(i, step); err != nil {
			return "", fmt.Errorf("step %q: %w", step.ID, err)
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
	p     *Plan
	b     strings.Builder
	found []string // programs that the script has looked for
}

func (s *script) line(l string) { s.b.WriteString(l + "\n") }

func (s *script) variables() error {
	dir, err := quote(s.p.Target.Dir)
	if err != nil {
		return err
	}
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
	return nil
}

// buildsAside reports whether the script needs a place for a new environment: one
// for an administrator does not.
func (s *script) buildsAside() bool {
	return slices.ContainsFunc(s.p.Steps, func(t Step) bool { return !t.Root && t.Manual == nil })
}

// step writes one step. Where a person has to do one in between, every step can
// be skipped, so that the script goes on behind it.
func (s *script) step(i int, step Step) error {
	title, err := quote(fmt.Sprintf("step %d of %d: %s", i+1, len(s.p.Steps), text.Printable(step.Title)))
	if err != nil {
		return err
	}
	byHand := slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Manual != nil })
	if bringsUV(step) || bringsPython(step) && s.makesVenv() { // done where uv and Python are looked for
		return nil
	}
	s.line("")
	s.line("# " + text.Printable(step.Why))
	if byHand {
		s.line(fmt.Sprintf(`if [ "$from" -le %d ]; then`, i+1))
	}
	s.line("echo " + title)
	if err := s.action(i, step); err != nil {
		return err
	}
	if byHand {
		s.line("fi")
	}
	return nil
}

// action writes what a step does.
func (s *script) action(i int, step Step) error {
	switch {
	case step.Run != nil:
		words, err := step.Run.Words()
		if err != nil {
			return err
		}
		if step.Root {
			return s.root(step, words)
		}
		if words, err = s.withPython(s.elsewhere(*step.Run)).Words(); err != nil {
			return err
		}
		line := "user " + strings.Join(words, " ")
		if len(step.Run.Known) > 0 {
			line += " || echo 'see whether these are the complaints of the old environment'"
		}
		s.line(line)
		if step.ID == Copied {
			s.line(`rm -r "$gen"` + strings.TrimPrefix(CopiedDir, "{gen}"))
		}
	case step.Copy != nil:
		return s.copy(*step.Copy)
	case step.Write != nil && step.Root:
		return s.rootWrite(*step.Write)
	case step.Write != nil:
		return s.write(*step.Write)
	case step.Block != nil:
		return s.block(*step.Block)
	case step.Manual != nil:
		return s.manual(i, step)
	case step.Verify != nil:
		return s.verify(*step.Verify)
	case step.Switch != nil:
		s.line(`if [ -e "$target" ] && [ ! -L "$target" ]; then mv "$target" "$target.before"; fi`)
		s.line(`ln -sfn "$gen" "$target.next"`)
		// -T, which makes it one rename, is not in every mv (macOS).
		s.line(`mv -T "$target.next" "$target" 2>/dev/null || { rm -f "$target"; mv "$target.next" "$target"; }`)
	}
	return nil
}

// manual writes what a person has to do, and ends the script there.
func (s *script) manual(i int, step Step) error {
	if step.ID != "reboot" { // whose title says it all
		text, err := quote(text.Printable(step.Manual.Text))
		if err != nil {
			return err
		}
		s.line("echo " + text)
	}
	if i+1 < len(s.p.Steps) {
		s.line(fmt.Sprintf("echo 'then run this script again with the argument %d'", i+2))
	}
	s.line(fmt.Sprintf("exit %d", step.Manual.exit()))
	return nil
}

// exit is the status with which a script ends at m, as apply does: 7 for a reboot, 6
// for whatever else a person has to do.
func (m *Manual) exit() int {
	if m.Reboot {
		return 7
	}
	return 6
}

func (s *script) write(w Write) error {
	path, err := quote(w.Path)
	if err != nil {
		return err
	}
	content, err := quote(w.Content)
	if err != nil {
		return err
	}
	s.line(fmt.Sprintf("printf %%s %s >%s", content, path))
	s.line(fmt.Sprintf("chmod %o %s", w.Mode&0o777, path))
	return nil
}

func (s *script) block(b Block) error {
	path, err := quote(b.Path)
	if err != nil {
		return err
	}
	if b.Backup != "" {
		backup, err := quote(b.Backup)
		if err != nil {
			return err
		}
		s.line("[ -e " + backup + " ] || cp -p " + path + " " + backup)
	}
	words := []string{}
	for _, l := range slices.Concat([]string{"# >>> envfix " + b.Name + " >>>"}, b.Lines, []string{"# <<< envfix " + b.Name + " <<<"}) {
		q, err := quote(l)
		if err != nil {
			return err
		}
		words = append(words, q)
	}
	s.line(`printf '%s\n' ` + strings.Join(words, " ") + " >>" + path)
	return nil
}

// verify writes the short form of the proof: the imports and what torch says of
// itself.
func (s *script) verify(v Verify) error {
	q, err := quote(proofCode(v))
	if err != nil {
		return err
	}
	visible := ""
	if v.CUDAVisible != "" {
		if visible, err = quote(v.CUDAVisible); err != nil {
			return err
		}
		visible = "CUDA_VISIBLE_DEVICES=" + visible + " "
	}
	python := `"$gen"/bin/python`
	if s.p.Basis.Facts.Platform.OS == "windows" {
		python = `"$gen"/Scripts/python`
	}
	s.line("user " + visible + python + " -I -c " + q)
	return nil
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
