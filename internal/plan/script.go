package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// Words returns r as POSIX shell words, its variables first, each quoted;
// "{gen}" and "{tools}" become "$gen" and "$tools", and so do a script's "{uv}",
// "{python}" and "{conda}". Its error names an argument
// that no POSIX shell can be given.
func (r Run) Words() ([]string, error) { return shown(r.words()) }

func (r Run) words() (words []text.Quoted) {
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, text.Form("%s=%s", text.Word(k), quote(r.Env[k])))
	}
	return append(words, text.Each(r.Argv, quote)...)
}

// shown are words as a person reads them in an answer.
func shown(words []text.Quoted) ([]string, error) {
	return text.Each(words, text.Quoted.String), text.Join(words, " ").Err()
}

// quote is the one function that writes outside text into a shell script.
func quote(s string) text.Quoted {
	if s == "" {
		return text.POSIX(s)
	}
	var d text.Doc
	for s != "" {
		at, name := nextPlaceholder(s)
		if at > 0 {
			d.Add("%s", text.POSIX(s[:at]))
		}
		if name != "" {
			d.Add(`"$%s"`, text.Word(name))
			at += len(name) + 2
		}
		s = s[at:]
	}
	return d.Quoted()
}

// nextPlaceholder finds the first "{gen}", "{tools}" … of s; without one it
// returns the length of s.
func nextPlaceholder(s string) (at int, name string) {
	at = len(s)
	for _, n := range []string{"gen", "tools", "envfix", "uv", "python", "conda"} {
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
func Script(p *Plan) text.Quoted {
	s := script{p: p}
	s.Add("#!/bin/sh\n")
	s.head()
	s.Add("set -eu\n")
	s.variables()
	for i, step := range p.Steps {
		s.step(i, step)
	}
	switch {
	case p.proves():
		s.Add("echo %s\n", quote(p.ready()))
	case len(p.Steps) > 0:
	case p.Waits():
		s.Add("echo 'nothing was done: this needs another driver, which `envfix plan --change-driver --sh` plans' >&2\nexit 1\n")
	default:
		s.Add("echo 'nothing to do'\n")
	}
	return s.Quoted()
}

// head says what the script is for.
func (s *script) head() {
	s.Add("# envfix plan %s\n# %s\n", text.Comment(s.p.ID), text.Comment(summary(s.p)))
	for _, w := range s.p.Warnings {
		s.Add("# warning: %s\n", text.Comment(w))
	}
	if err := s.p.named(); err != nil {
		s.refuse(err)
	}
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
	text.Doc
	p *Plan
}

// refuse makes the script none, for what cannot be written into one.
func (s *script) refuse(err error) { s.Add("%s", text.Fail(err)) }

func (s *script) variables() {
	if slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Manual != nil }) {
		s.Add("from=${1:-1} # the step to begin with, after one that is done by hand\n")
	}
	s.Add("target=%s\n", quote(s.p.Target.Dir))
	aside := func(t Step) bool { return !t.Root && t.Manual == nil } // what is for an administrator needs no place
	if s.p.Target.InPlace || !slices.ContainsFunc(s.p.Steps, aside) {
		s.Add("gen=$target\n")
	} else {
		s.Add("gen=$PWD/.envfix/gens/$(date +%%Y%%m%%d%%H%%M%%S)\nmkdir -p \"$PWD/.envfix/gens\"\n")
	}
	s.Add("tools=${XDG_STATE_HOME:-\"$HOME/.local/state\"}/envfix/tools\nmkdir -p \"$tools\"\n")
	s.Add(`root() { if [ "$(id -u)" -eq 0 ]; then env "$@"; else sudo env "$@"; fi; }` + "\n")
	s.userFunction()
	s.programs(s.tool)
}

// step writes one step. Where a person has to do one in between, every step can
// be skipped, so that the script goes on behind it.
func (s *script) step(i int, step Step) {
	byHand := slices.ContainsFunc(s.p.Steps, func(t Step) bool { return t.Manual != nil })
	if bringsUV(step) || bringsPython(step) && s.makesVenv() {
		s.Add("echo %s\n", quote(s.title(i)+": done where uv and Python were looked for"))
		return
	}
	s.Add("\n# %s\n", text.Comment(step.Why))
	if byHand {
		s.Add("if [ \"$from\" -le %s ]; then\n", text.Int(i+1))
	}
	s.Add("echo %s\n", quote(s.title(i)))
	s.action(i, step)
	if byHand {
		s.Add("fi\n")
	}
}

func (s *script) title(i int) string {
	return fmt.Sprintf("step %d of %d: %s", i+1, len(s.p.Steps), text.Printable(s.p.Steps[i].Title))
}

// action writes what a step does.
func (s *script) action(i int, step Step) {
	switch {
	case step.Run != nil && step.Root:
		s.root(step)
	case step.Run != nil:
		s.Add("user %s", text.Join(s.withPython(s.elsewhere(*step.Run)).words(), " "))
		if len(step.Run.Known) > 0 {
			s.Add(" || echo 'see whether these are the complaints of the old environment'")
		}
		s.Add("\n")
		if step.ID == Copied {
			s.Add("rm -r %s\n", quote(CopiedDir))
		}
	case step.Copy != nil:
		s.Add("user \"$gen\"/bin/python -I -S -c %s \"$target\" %s %s\n", quote(copyProgram), quote(CopiedDir), text.Join(Run{Argv: step.Copy.Packages}.words(), " "))
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
		s.Add(`if [ -e "$target" ] && [ ! -L "$target" ]; then mv "$target" "$target.before"; fi
ln -sfn "$gen" "$target.next"
`) // -T, which makes it one rename, is not in every mv (macOS).
		s.Add(`mv -T "$target.next" "$target" 2>/dev/null || { rm -f "$target"; mv "$target.next" "$target"; }` + "\n")
	}
}

// manual writes what a person has to do, and ends the script there.
func (s *script) manual(i int, step Step) {
	if step.ID != "reboot" { // whose title says it all
		s.Add("echo %s\n", quote(text.Printable(step.Manual.Text)))
	}
	if i+1 < len(s.p.Steps) {
		s.Add("echo 'then run this script again with the argument %s'\n", text.Int(i+2))
	}
	s.Add("exit %s\n", text.Int(step.Manual.exit()))
}

// exit is the status with which a script ends at m, as apply does: 7 for a reboot, 6
// for whatever else a person has to do.
func (m *Manual) exit() int {
	return say.Either(m.Reboot, 7, 6)
}

func (s *script) write(w Write) {
	file := quote(w.Path)
	s.Add("printf %%s %s >%s\nchmod %s %s\n", quote(w.Content), file, text.Octal(w.Mode), file)
}

func (s *script) block(b Block) {
	file := quote(b.Path)
	if b.Backup != "" {
		s.Add("[ -e %[1]s ] || cp -p %[2]s %[1]s\n", quote(b.Backup), file)
	}
	s.Add(`printf '%%s\n'`)
	for _, l := range slices.Concat([]string{"# >>> envfix " + b.Name + " >>>"}, b.Lines, []string{"# <<< envfix " + b.Name + " <<<"}) {
		s.Add(" %s", quote(l))
	}
	s.Add(" >>%s\n", file)
}

// verify writes the short form of the proof: the imports, what torch says of itself, and
// a product on each GPU that is there.
func (s *script) verify(v Verify) {
	s.Add("user ")
	if v.CUDAVisible != "" {
		s.Add("CUDA_VISIBLE_DEVICES=%s ", quote(v.CUDAVisible))
	}
	s.Add("\"$gen\"/%s -I -c %s\n", text.Word(s.p.Interpreter()), quote(proofCode(v, s.p.Installs().Build)))
}

// proofCode is the Python of the short proof.
func proofCode(v Verify, build string) string {
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
	code += say.If(v.GPUs > 0, fmt.Sprintf("; assert torch.cuda.device_count() == %d, torch.cuda.device_count()", v.GPUs))
	if v.Torch == "" {
		return code
	}
	// One product on each GPU that is there, exact in any precision, and what came of it.
	return code + "; devices = " + devices(build) + `; ones = [torch.ones(64, 64, device=d) for d in devices]; ` +
		`wrong = [str(x.device) for x in ones if (x @ x).sum().item() != 64 ** 3]; assert not wrong, wrong; ` +
		`print("torch", torch.__version__, "computes on", ", ".join(devices) or "the CPU; it sees no GPU here")`
}

// devices is the Python of the GPUs that torch sees, where it was built for some.
func devices(build string) string {
	switch {
	case build == "mps":
		return `["mps"] * torch.backends.mps.is_available()`
	case build == "xpu":
		return `["xpu:" + str(i) for i in range(torch.xpu.device_count())]`
	}
	return `["cuda:" + str(i) for i in range(torch.cuda.device_count())]`
}
