package main

import (
	"os"
	"slices"
	"strings"

	"envfix/internal/text"
)

// sameWish is what was asked for of `envfix plan`, as `envfix apply` takes it: a file that
// the plan was written to, or the arguments without those that say how a plan is shown.
// It is nil where they hold a credential, which is not printed.
func sameWish(args []string) []string {
	args = args[1:]
	if i := slices.Index(args, "plan"); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+1)
	}
	if !slices.Equal(text.RedactArgv(args, text.Secrets(os.Environ())...), args) {
		return nil
	}
	if file := valueOf(args, "--out"); file != "" {
		return []string{file}
	}
	shown := []string{"-v", "--verbose", "--exit-code", "--open"}
	return slices.DeleteFunc(args, func(a string) bool { return slices.Contains(shown, a) })
}

// valueOf is the value of a flag, "" where it is not there.
func valueOf(args []string, flag string) string {
	for i, a := range args {
		name, value, attached := strings.Cut(a, "=")
		switch {
		case name != flag:
		case attached:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// lessFlags leaves out flags that take a value.
func lessFlags(args []string, flags ...string) []string {
	if args == nil {
		return nil
	}
	out := []string{}
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(args[i], "=")
		if !slices.Contains(flags, name) {
			out = append(out, args[i])
		} else if !attached {
			i++
		}
	}
	return out
}
