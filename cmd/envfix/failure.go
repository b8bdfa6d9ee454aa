package main

import (
	"context"
	"errors"
	"io/fs"

	"envfix/internal/fail"
	"envfix/internal/ui"
)

// reason is what the system said of a file, printable and without the file's name,
// which the text around it tells already.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return ui.Clean(err.Error())
}

// asFailure is the failure that err is, with its exit code.
func asFailure(err error) *fail.Error {
	var f *fail.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return fail.New(fail.Interrupted, "interrupted")
	}
	return fail.New(fail.Failed, ui.Clean(err.Error()))
}
