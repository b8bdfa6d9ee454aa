package main

import (
	_ "embed"
	"strings"

	"envfix/internal/text"
)

// lean lists the packages that are compiled without inlining: an eighth of the program's
// weight, in code that waits for the network, a disk or a person, or whose time is in
// maps and strings: of 60 runs each on a busy machine plan and explain took as long as
// before, doctor up to 8 % longer (medians 125 and 132 ms). What reads the data at every start
// (internal/compiled, internal/version …), strings and regexp stay as they are.
//
//go:embed lean.txt
var lean string

// leanFlags are lean as go build takes them.
func leanFlags() []string {
	out := text.Each(strings.Fields(lean), func(p string) string { return "-gcflags=" + p + "=-l" })
	for _, p := range []string{"compiled", "version", "text", "lazy", "loader", "proc"} { // of the patterns that fit, the last counts
		out = append(out, "-gcflags=envfix/internal/"+p+"=")
	}
	return out
}
