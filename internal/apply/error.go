package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"envfix/internal/system"
	"envfix/internal/text"
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
	Script  text.Quoted // what an administrator would run, with Privilege
	Err     error
	Index   string // the index that cannot be reached; "" it is something else

	again int // how often another try is worth it
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// refused is what stands in the way before anything is begun, and the way out.
func refused(hint, format string, args ...any) *Error {
	return &Error{Kind: Preflight, Text: text.Printable(fmt.Sprintf(format, args...)), Hints: []string{hint}}
}

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

// tooMany reports whether this process or this machine may open no more files.
func tooMany(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }

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
	case tooMany(err):
		return &Error{Kind: Preflight, Text: "too many files are open: " + err.Error(), Err: err,
			Hints: []string{"let this shell open more (`ulimit -n 1024`), then run the command again"}}
	case storage(err) != "":
		return &Error{Kind: Preflight, Text: fmt.Sprintf("%s: %v", storage(err), err), Err: err,
			Hints: []string{"make the place that it names writable, with space, or name another: `--env DIR`"}}
	}
	return &Error{Kind: Failed, Text: err.Error(), Err: err}
}
