package apply

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// Words of pip, uv, conda and the package managers. They are the only way to tell
// why an installer failed: all of them exit with 1, 2 or 100.
var (
	saysHash = []string{"do not match the hashes", "hash mismatch", "hash sum mismatch", "hashes mismatch", "checksum mismatch"}
	saysZip  = []string{"failed to extract archive", "badzipfile", "bad zip file", "bad crc"}
	saysDisk = []string{
		"no space left on device",
		"disk quota exceeded",
		"read-only file system",
		"you don't have enough free space",
		"[errno 28]",
		"[errno 122]",
		"os error 28",
		"os error 30",
		"os error 122",
	}
	saysBusy = []string{"could not get lock", "unable to acquire the dpkg frontend lock", "is another process using it", "system management is locked"}
	saysNone = []string{
		"no solution found when resolving",
		"no matching distribution found",
		"resolutionimpossible",
		"packagesnotfounderror",
		"unsatisfiableerror",
		"libmambaunsatisfiableerror",
	}
)

// fromInstaller explains how a program ended that a step ran. log is where its
// whole output is; "" nowhere.
func fromInstaller(title string, e *system.ExitError, log string) *fail.Error {
	text := lower(e.Tail)
	out := &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s: %v", title, e), Details: e.Tail, Err: e}
	fault := networkFault(text)
	switch {
	case e.By != "":
		out.Hints = []string{fromSignal(e.By)}
	case contains(text, saysHash):
		out.Code, out.Again = fail.Integrity, 1 // older pips take what came of a broken connection for the file
		out.Text += ": a file is not the one that its index announced"
		out.Hints = []string{"nothing was changed; try another mirror, and tell the index's owner if it stays"}
	case contains(text, saysDisk):
		out.Code = fail.Preflight
		out.Text += ": no space is left, or the file system is read-only"
		out.Hints = []string{"make space, or name a place with more: `--env DIR` for the environment, XDG_CACHE_HOME for the installers' caches"}
	case contains(text, saysBusy):
		out.Code = fail.Busy
		out.Hints = []string{"another package manager runs; wait until it is done, then `envfix apply --resume`"}
	case fault != nil:
		out.Again = fault.again
		out.Text += ": " + fault.what
		out.Hints = []string{fault.hint}
	case contains(text, saysZip): // so a full disk and a broken connection end, too
		out.Code = fail.Integrity
		out.Text += ": a file is not the one that its index announced"
		out.Hints = []string{"nothing was changed; try another mirror, and tell the index's owner if it stays"}
	case contains(text, saysNone):
		out.Text += ": no versions of the packages go together, or one does not exist for this Python and system"
		out.Hints = []string{"ask for fewer packages, or for other versions of those that the lines above name"}
	default:
		out.Hints = []string{"mend what its last lines name, then run the command again"}
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
	if tries > 1 {
		e.Text += fmt.Sprintf(", %d times", tries)
	}
	return e
}

// almostFull is what a directory has left that an installer just filled: it
// removed some of what it wrote.
const almostFull = 64 << 20

// fullest names the places that have no more room, of those that installers fill.
func (r *run) fullest() (out []string) {
	seen := ""
	for _, dir := range []string{filepath.Dir(r.env.Dir), existing(cacheDir())} {
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

func contains(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
