package main

import (
	"context"
	"errors"
	"io/fs"

	"envfix/internal/fail"
	"envfix/internal/ui"
)

// The exit codes, fixed by interfaces.md.
const (
	exitOK          = 0
	exitFailed      = 1 // the operation failed, or doctor found an error
	exitUsage       = 2 // usage, or input that cannot be read
	exitNoSolution  = 3 // no compatible combination, or a target must be named
	exitPending     = 4 // changes are pending
	exitStale       = 5 // the plan is stale
	exitPrivilege   = 6 // more privilege needed
	exitReboot      = 7 // waiting for a reboot
	exitBusy        = 8 // another apply, or the package manager's lock
	exitPreflight   = 9 // disk, dpkg state …
	exitIntegrity   = 10
	exitVerify      = 11
	exitUnknown     = 12 // doctor: what is wrong could not be told
	exitInterrupted = 130
)

// A failure is an error with its exit code, further lines and hints. A failure
// without text ends the program with its code and prints nothing more.
type failure struct {
	code    int
	text    string
	details []string // printed indented below the error
	hints   []string // each can be pasted; commands in backticks
	script  string   // what an administrator would run instead; "" nothing
	state   string   // of an apply: one of states; "" another command's
	changed bool     // of an apply: something is not as before, or may not be
	err     error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// reason is what the system said of a file, printable and without the file's name,
// which the text around it tells already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return ui.Clean(err.Error())
}

// asFailure is the failure that err is, with its exit code.
func asFailure(err error) *failure {
	var f *failure
	var e *fail.Error
	switch {
	case errors.As(err, &f) && f.code == exitInterrupted && f.text != "":
		return f // it says how things stand
	case errors.Is(err, context.Canceled):
		return &failure{code: exitInterrupted, text: "interrupted"}
	case errors.As(err, &f):
		return f
	case errors.As(err, &e):
		return &failure{code: e.Code, text: e.Text, details: e.Details, hints: e.Hints, script: e.Script, err: e}
	}
	return &failure{code: exitFailed, text: ui.Clean(err.Error())}
}
