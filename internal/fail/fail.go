// Package fail holds the error that a command ends with: its exit code, what is
// wrong, what was seen, and what to do about it. Whatever a package finds wrong
// with what it was asked for it returns as one, and cmd/envfix prints it.
package fail

import (
	"context"
	"errors"
	"io/fs"

	"envfix/internal/text"
)

// The exit codes. Other programs read them: they only grow.
const (
	OK          = 0
	Failed      = 1 // the operation failed, or doctor found an error
	Usage       = 2 // usage, or input that cannot be read
	NoSolution  = 3 // no compatible combination, or a target must be named
	Pending     = 4 // changes are pending
	Stale       = 5 // the plan is stale
	Privilege   = 6 // more privilege needed
	Reboot      = 7 // waiting for a reboot
	Busy        = 8 // another apply, or the package manager's lock
	Preflight   = 9 // disk, dpkg state …
	Integrity   = 10
	Verify      = 11
	Unknown     = 12 // doctor: what is wrong could not be told
	Interrupted = 130
)

// An Error ends a command. One without text ends it with its code and prints
// nothing more.
type Error struct {
	Code    int
	Text    string
	Details []string    // printed indented below the error
	Hints   []string    // each can be pasted; commands in backticks
	Script  text.Quoted // what an administrator would run instead; "" nothing
	State   string      // of an apply: how it ended, in a word; "" another command's
	Changed bool        // of an apply: something is not as before, or may not be
	Host    string      // the machine, where a collector of answers must know it; "" not said
	Again   int         // of a step that the network failed: how often another try is worth it
	Err     error
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// New is an error with what there is to do about it.
func New(code int, text string, hints ...string) *Error {
	return &Error{Code: code, Text: text, Hints: hints}
}

// Wrong is the error for what somebody asked for, with how to ask for it.
func Wrong(text string, hints ...string) *Error { return New(Usage, text, hints...) }

// Because is an error of which another one is the reason.
func Because(err error, code int, text string, hints ...string) *Error {
	return &Error{Code: code, Text: text, Hints: hints, Err: err}
}

// Wrap is an error with the words of another one; nil where there is none.
func Wrap(code int, err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return Because(err, code, text.Escape(err.Error()), hints...)
}

// Reason is what the system said of a file, printable and without the file's name,
// which the text around it tells already.
func Reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return text.Escape(err.Error())
}

// Of is the failure that err is, with its exit code.
func Of(err error) *Error {
	var f *Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return New(Interrupted, "interrupted")
	}
	return New(Failed, text.Escape(err.Error()))
}

// Longest is how many characters of an error's sentence, or of one of its lines, are
// shown: a file may have a number of a million digits, and its reader quotes it.
const Longest = 4000

// Shortened is an error whose sentences are no longer than [Longest] bytes, and safe to print.
func Shortened(f *Error) *Error {
	out := *f
	out.Text = text.Cut(text.Escape(f.Text), Longest)
	out.Details = text.Each(f.Details, func(d string) string { return text.Cut(d, Longest) })
	return &out
}

// CodeIf is the code where something is so, else that of success.
func CodeIf(so bool, code int) int {
	if so {
		return code
	}
	return OK
}
