package fail

import (
	"context"
	"errors"
	"io/fs"

	"envfix/internal/text"
)

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
