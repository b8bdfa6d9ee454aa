package machine

import (
	"strings"

	"envfix/internal/lazy"
)

// starts matches how a program begins that starts a Python by its place: with its first line, or
// with a shell that does, as pip (distlib) and uv write it where the kernel would not take the
// place. Python reads the shell's line as a string.
var starts = lazy.Regexp(`\A#!(?:/bin/sh\n'''exec' ["']?)?(/[^\n"]*?/bin/python[\d.]*)(?:["']? "\$0" "\$@"\n' ''')?[ \t]*\n`)

// StartedBy is the Python that a program starts by its place, and the rest of the program; ""
// it starts no such one.
func StartedBy(program string) (python, rest string) {
	m := starts().FindStringSubmatch(program)
	if m == nil {
		return "", program
	}
	return m[1], program[len(m[0]):]
}

// mostShebang is what the kernel reads of a program's first line (before Linux 5.1; 255 since).
const mostShebang = 127

// Starting is how a program begins that starts that Python; quoted is its place as a shell reads it.
func Starting(python, quoted string) string {
	if len("#!"+python+"\n") <= mostShebang && !strings.ContainsAny(python, " \t") {
		return "#!" + python + "\n"
	}
	return "#!/bin/sh\n'''exec' " + quoted + " \"$0\" \"$@\"\n' '''\n"
}
