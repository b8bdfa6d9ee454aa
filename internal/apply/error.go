package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/text"
)

// refused is what stands in the way before anything is begun, and the way out.
func refused(hint, format string, args ...any) *fail.Error {
	return &fail.Error{Code: fail.Preflight, Text: text.Printable(fmt.Sprintf(format, args...)), Hints: []string{hint}}
}

// storage says in words what the disk refused, "" for other errors.
func storage(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "no space is left on the disk"
	case errors.Is(err, syscall.EDQUOT):
		return "the disk quota is used up"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "writing is not allowed"
	case errors.Is(err, syscall.EIO):
		return "the disk reports an error"
	}
	return ""
}

// tooMany reports whether this process or this machine may open no more files.
func tooMany(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }

// Wrap turns any error into one that says what to do.
func Wrap(err error) error {
	var known *fail.Error
	var busy *system.BusyError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &fail.Error{Code: fail.Interrupted, Text: "interrupted", Err: err}
	case errors.As(err, &busy):
		return &fail.Error{Code: fail.Busy, Text: "another envfix works on this environment: " + busy.Error(), Err: err,
			Hints: []string{"wait until it is done, then run the command again"}}
	case tooMany(err):
		return &fail.Error{Code: fail.Preflight, Text: "too many files are open: " + err.Error(), Err: err,
			Hints: []string{"let this shell open more (`ulimit -n 1024`), then run the command again"}}
	case storage(err) != "":
		return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s: %v", storage(err), err), Err: err,
			Hints: []string{"make the place that it names writable, with space, or name another: `--env DIR`"}}
	}
	return &fail.Error{Code: fail.Failed, Text: err.Error(), Err: err}
}
