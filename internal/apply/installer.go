package apply

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/reach"
	"envfix/internal/say"
	"envfix/internal/system"
)

// fromInstaller explains how a program ended that a step ran. log is where its
// whole output is; "" nowhere.
func fromInstaller(title string, e *system.ExitError, log string) *fail.Error {
	text := strings.ToLower(strings.Join(e.Tail, "\n"))
	out := fail.Because(e, fail.Failed, fmt.Sprintf("%s: %v", title, e), "mend what its last lines name, then run the command again")
	out.Details = e.Tail
	if e.By != "" {
		out.Hints[0] = fromSignal(e.By)
	} else if f := know.Embedded().Fault(text); f != nil {
		out.Code, out.Again, out.Hints[0] = cmp.Or(f.Exit, fail.Failed), f.Again, cmp.Or(f.Hint, reach.Hint(text))
		out.Text += say.With(": ", f.What, "")
	}
	if log != "" {
		out.Hints = append(out.Hints, fmt.Sprintf("its whole output is in %s", log))
	}
	return out
}

// fromSignal says what usually lies behind the signal that ended a program.
func fromSignal(name string) string {
	switch name {
	case "killed":
		return "the kernel does so where memory runs out (`dmesg` says it): end other programs, or ask for a job with more memory"
	case "illegal instruction":
		return "this processor lacks an instruction that the program uses: another build, or another machine"
	case "file size limit exceeded", "CPU time limit exceeded":
		return "a limit of this session ended it (`ulimit -a`): raise it, then run the command again"
	}
	return "run the command again; if it stays, its last lines tell where it happened"
}

// explain makes an *fail.Error of how the program of step i ended, for the tries-th
// time; nil stays nil.
func (r *run) explain(i int, err error, log string, tries int) error {
	var exit *system.ExitError
	var stalled *system.StallError
	var start *system.StartError
	var e *fail.Error
	switch title := r.plan.Steps[i].Title; {
	case errors.As(err, &exit):
		if r.asBefore(i, log) {
			return nil
		}
		if said := strings.Join(exit.Tail, "\n"); r.plan.Steps[i].Root && noLonger(said) {
			return outdated(r.plan.Steps[i], said)
		}
		e = fromInstaller(title, exit, log)
		r.carryHints(i, e)
		if r.plan.Steps[i].ID == "project" {
			e.Hints = slices.Insert(e.Hints, 0, "`--no-install-project` makes the environment without it")
		}
		if r.plan.Steps[i].ID == plan.BringsUV {
			e.Hints = slices.Insert(e.Hints, 0, "`--manager pip` installs without uv")
		}
	case errors.As(err, &stalled):
		e = &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s: %v", title, stalled), Details: stalled.Tail, Err: stalled, Again: 1,
			Hints: []string{"a server, a file system or a driver does not answer; `--stall 1h` waits longer", "its whole output is in " + log}}
	case errors.As(err, &start) && !tooMany(err):
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s: %v", title, start), Err: start,
			Hints: []string{
				"it was here when the plan was made: `envfix plan` makes one with what is here now",
				"a file system that is mounted with noexec starts nothing (`findmnt -T DIR`): `--env DIR` names another",
			}}
	default:
		return err
	}
	if e.Code == fail.Preflight {
		e.Details = append(e.Details, r.fullest()...)
	}
	e.Text += say.If(tries > 1, fmt.Sprintf(", %d times", tries))
	return e
}

// almostFull is what a directory has left that an installer just filled: it
// removed some of what it wrote.
const almostFull = 64 << 20

// fullest names the places that have no more room, of those that installers fill.
func (r *run) fullest() (out []string) {
	seen := ""
	for _, dir := range []string{filepath.Dir(r.env.Dir), cacheDir(uvCache)} {
		free, files, err := system.Free(cmp.Or(dir, "/"))
		if err != nil || dir == "" || seen != "" && system.SameDisk(seen, dir) {
			continue
		}
		if seen = dir; free < almostFull || files < 100 {
			out = append(out, fmt.Sprintf("%s has %s free", dir, size(int64(free))))
		}
	}
	return out
}
