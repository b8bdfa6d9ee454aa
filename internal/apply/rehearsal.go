package apply

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/plan"
	"envfix/internal/text"
)

// judge reads what a simulated run of a package manager said, and refuses one that
// would take away more than the plan names: a package of the desktop that depends
// on the old driver, or the kernel that runs.
func judge(s plan.Step, said string) error {
	manager := filepath.Base(s.Run.Argv[0])
	if noLonger(said) {
		return outdated(s, said)
	}
	if manager == "dnf" && !strings.Contains(said, "Transaction Summary") && !strings.Contains(said, "Nothing to do") {
		return &Error{Kind: Preflight, Text: "dnf finds no way to install what the plan names", Details: lastLines(said, 12),
			Hints: []string{"nothing was changed; `envfix plan` makes a new plan, with the versions that are there now"}}
	}
	var bad []string
	for _, name := range removals(manager, said) {
		if !slices.ContainsFunc(s.Rehearsal.MayRemove, func(glob string) bool { ok, _ := path.Match(glob, name); return ok }) {
			bad = append(bad, name)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &Error{Kind: Preflight, Text: fmt.Sprintf("installing the driver would remove %d packages that the plan does not name", len(bad)), Details: bad,
		Hints: []string{"nothing was changed; remove them yourself if you can do without them, or keep the driver that is there"}}
}

// noLonger reports whether a package manager said that it does not have the version
// that was asked for: apt, dnf4 and dnf5, zypper.
func noLonger(said string) bool {
	return vanished().MatchString(said)
}

var vanished = lazy.Regexp(`(?m)^(E: Version '[^']*' for '[^']*' was not found|Error: Unable to find a match: |No match for argument: |No provider of '[^']*' found)`)

// outdated says that the repository went on since the plan was made: its lists were
// read again in a step before this one.
func outdated(s plan.Step, said string) error {
	return &Error{Kind: Stale, Text: fmt.Sprintf("%s: the repository does not have %s any more", s.Title, text.Printable(s.Run.Argv[len(s.Run.Argv)-1])),
		Details: lastLines(said, 4), Hints: []string{"nothing of the driver was changed; `envfix plan` makes a new plan, with the version that is there now"}}
}

func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}

var (
	aptRemoves   = lazy.Regexp(`^(Remv|Purg) ([a-z0-9][a-z0-9+.-]*)`)
	dnfSection   = lazy.Regexp(`^[A-Z][A-Za-z ]*:$`)
	dnfReplaces  = lazy.Regexp(`^ +replacing +([A-Za-z0-9][A-Za-z0-9+._-]*?)(\.(noarch|x86_64|aarch64|i686))? `)
	dnfRow       = lazy.Regexp(`^ ([A-Za-z0-9][A-Za-z0-9+._-]*)`)
	zypperHeader = lazy.Regexp(`^The following .*(going|have) to be REMOVED:$`)
)

// removals lists the packages that a simulated run would remove or replace by
// others, as each package manager says it. It reads English: the step asks for it.
func removals(manager, said string) []string {
	var out []string
	in := false
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		switch manager {
		case "apt-get":
			if m := aptRemoves().FindStringSubmatch(line); m != nil {
				out = append(out, m[2])
			}
		case "dnf":
			if dnfSection().MatchString(line) || line == "Transaction Summary" || line == "Transaction Summary:" {
				in = strings.HasPrefix(line, "Removing")
			} else if m := dnfReplaces().FindStringSubmatch(line); m != nil {
				out = append(out, m[1])
			} else if m := dnfRow().FindStringSubmatch(line); m != nil && in {
				out = append(out, m[1])
			}
		case "zypper":
			if strings.HasPrefix(line, "  ") && in {
				out = append(out, strings.Fields(line)...)
			} else {
				in = zypperHeader().MatchString(line)
			}
		}
	}
	return out
}
