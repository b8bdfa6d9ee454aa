package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"envfix/internal/system"
)

// A Kind says what an error means to who called; each has its exit code.
type Kind int

// The kinds of errors.
const (
	Failed       Kind = iota // a step failed
	BadPlan                  // the plan itself cannot be carried out
	Stale                    // the facts changed since it was made
	Privilege                // steps are left that need more rights
	Reboot                   // the rest comes after a reboot
	Busy                     // another apply, or the package manager's lock
	Preflight                // disk, rights, state of the package manager
	Integrity                // a hash, a damaged journal, an edited plan
	Verification             // the result does not prove itself
	Interrupted
)

// An Error is why a plan was not carried out, and what to do about it.
type Error struct {
	Kind    Kind
	Text    string
	Details []string
	Hints   []string
	Script  string // what an administrator would run, with Privilege
	Err     error
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// storage says in words what the disk refused, "" for other errors.
func storage(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "no space is left on the disk"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "writing is not allowed"
	case errors.Is(err, syscall.EIO):
		return "the disk reports an error"
	}
	return diskQuota(err)
}

// Wrap turns any error into an *Error.
func Wrap(err error) error { return wrap(err) }

// wrap is Wrap.
func wrap(err error) error {
	var known *Error
	var busy *system.BusyError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Interrupted, Text: "interrupted", Err: err}
	case errors.As(err, &busy):
		return &Error{Kind: Busy, Text: "another envfix works on this environment: " + busy.Error(), Err: err,
			Hints: []string{"wait until it is done, then run the command again"}}
	case storage(err) != "":
		return &Error{Kind: Preflight, Text: fmt.Sprintf("%s: %v", storage(err), err), Err: err}
	}
	return &Error{Kind: Failed, Text: err.Error(), Err: err}
}

// Words of pip, uv and the package managers. They are the only way to tell why
// an installer failed: all of them exit with 1, 2 or 100.
var (
	saysHash = []string{"do not match the hashes", "hash mismatch", "hash sum mismatch", "hashes mismatch", "checksum mismatch",
		"failed to extract archive", "badzipfile", "bad zip file", "bad crc"}
	saysDisk = []string{"no space left on device", "disk quota exceeded", "read-only file system", "you don't have enough free space", "[errno 28]", "os error 28", "os error 30"}
	saysBusy = []string{"could not get lock", "unable to acquire the dpkg frontend lock", "is another process using it", "system management is locked"}
)

// fromInstaller explains how a program ended that a step ran.
func fromInstaller(title string, e *system.ExitError, log string) error {
	text := strings.ToLower(strings.Join(e.Tail, "\n"))
	out := &Error{Kind: Failed, Text: fmt.Sprintf("%s: %v", title, e), Details: e.Tail, Err: e}
	switch {
	case contains(text, saysHash):
		out.Kind = Integrity
		out.Text += ": a file is not the one that its index announced"
		out.Hints = []string{"nothing was changed; try another mirror, and tell the index's owner if it stays"}
	case contains(text, saysDisk):
		out.Kind = Preflight
		out.Text += ": no space is left, or the file system is read-only"
		out.Hints = []string{"make space, or name a place with more: `--env DIR`"}
	case contains(text, saysBusy):
		out.Kind = Busy
		out.Hints = []string{"another package manager runs; wait until it is done, then `envfix apply --resume`"}
	}
	if log != "" {
		out.Hints = append(out.Hints, fmt.Sprintf("its whole output is in %s", log))
	}
	return out
}

func contains(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
