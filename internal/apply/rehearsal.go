package apply

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/xslices"
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
		return &fail.Error{Code: fail.Preflight, Text: "dnf finds no way to install what the plan names", Details: lastLines(said, 12),
			Hints: []string{"nothing was changed; `envfix plan` makes a new plan, with the versions that are there now"}}
	}
	bad := slices.DeleteFunc(removals(manager, said), func(name string) bool {
		return slices.ContainsFunc(s.Rehearsal.MayRemove, func(glob string) bool { ok, _ := path.Match(glob, name); return ok })
	})
	return would(bad, unnamed(s.Run.Argv, said))
}

// would refuses what would be removed, or done else, that the plan does not name.
func would(remove, do []string) error {
	switch {
	case len(remove) > 0:
		return &fail.Error{Code: fail.Preflight, Details: remove,
			Text:  fmt.Sprintf("installing the driver would remove %d packages that the plan does not name", len(remove)),
			Hints: []string{"nothing was changed; remove them yourself if you can do without them, or keep the driver that is there"}}
	case len(do) > 0:
		return &fail.Error{Code: fail.Preflight, Text: "the package manager would do what the plan does not name", Details: do,
			Hints: []string{"nothing was changed; `envfix plan` makes a new plan, with what the repositories have now"}}
	}
	return nil
}

// rehearse has the package manager say what an installation or a removal would do,
// before it does it, and refuses one that takes away more than packages of the
// driver. A plan rehearses too; this is asked by the process that has the rights,
// which believes no plan.
func (m host) rehearse(ctx context.Context, s plan.Step) error {
	argv := simulation(s.Run.Argv)
	if argv == nil {
		return nil
	}
	env := maps.Clone(s.Run.Env)
	if env == nil {
		env = map[string]string{}
	}
	env["LC_ALL"] = "C" // what it says is read
	var said bytes.Buffer
	try := plan.Step{ID: s.ID, Title: s.Title, Run: &plan.Run{Argv: argv, Env: env}, Rehearsal: &plan.Rehearsal{}}
	if err := m.run(ctx, try, &said, nil); err != nil {
		return err
	}
	shows := said.String()
	if slices.Contains(argv, "remove") { // dnf takes away what it had brought for the driver alone
		shows = unusedSection().ReplaceAllString(shows, "")
	}
	return would(slices.DeleteFunc(removals(filepath.Base(argv[0]), shows), machine.DriverPackage), unnamed(argv, shows))
}

var unusedSection = lazy.Regexp(`(?m)^Removing unused dependencies:\n( .*\n)*`)

// simulation is the command that shows what argv would do; nil where argv changes no
// package.
func simulation(argv []string) []string {
	at := slices.IndexFunc(argv, func(a string) bool { return a == "install" || a == "remove" })
	word, known := map[string]string{"apt-get": "--simulate", "dnf": "--assumeno", "zypper": "--dry-run"}[filepath.Base(argv[0])]
	if at < 0 || !known || slices.Contains(argv, word) || slices.Contains(argv, "--download-only") || slices.Contains(argv, "--downloadonly") {
		return nil
	}
	return append(append(slices.Clone(argv[:at+1]), word), xslices.Filter(argv[at+1:], func(a string) bool {
		return a != "--no-download" && (word != "--assumeno" || a != "-y" && a != "--assumeyes")
	})...)
}

// noLonger reports whether a package manager said that it does not have the version
// that was asked for: apt, dnf4 and dnf5, zypper.
func noLonger(said string) bool {
	return vanished().MatchString(said)
}

var vanished = lazy.Regexp(
	`(?m)^(E: Version '[^']*' for '[^']*' was not found|Error: Unable to find a match: |No match for argument: |No provider of '[^']*' found)`,
)

// outdated says that the repository went on since the plan was made: its lists were
// read again in a step before this one.
func outdated(s plan.Step, said string) error {
	return &fail.Error{Code: fail.Stale, Text: fmt.Sprintf("%s: the repository does not have %s any more", s.Title, text.Printable(s.Run.Argv[len(s.Run.Argv)-1])),
		Details: lastLines(said, 4),
		Hints:   []string{"nothing of the driver was changed; `envfix plan` makes a new plan, with the version that is there now"}}
}

func lastLines(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}

var (
	aptRemoves  = lazy.Regexp(`^(Remv|Purg) ([a-z0-9][a-z0-9+.-]*)`)
	dnfSection  = lazy.Regexp(`^[A-Z][A-Za-z ]*:$`)
	dnfReplaces = lazy.Regexp(`^ +replacing +([A-Za-z0-9][A-Za-z0-9+._-]*?)(\.(noarch|x86_64|aarch64|i686))? `)
	dnfRow      = lazy.Regexp(`^ ([A-Za-z0-9][A-Za-z0-9+._-]*)`)
)

// removals lists the packages that a simulated run would remove or replace by
// others, as each package manager says it. It reads English: the step asks for it.
func removals(manager, said string) (out []string) {
	for _, c := range rehearsedIn(manager, said) {
		if c.does == removes {
			out = append(out, c.name)
		}
	}
	return out
}

// A rehearsed is a change that a package manager's rehearsal shows.
type rehearsed struct {
	does, name, version string // version "": it does not say
}

// What is done to a package.
const (
	installs   = "installs"        // because it was named, as far as the package manager says
	brings     = "brings"          // because another one needs it
	downgrades = "goes back with"  // to an older version
	instead    = "takes, instead," // another one than was named
	removes    = "removes"
)

var (
	aptInstalls  = lazy.Regexp(`^Inst ([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)? (?:\[[^\]]*\] )?\(([^\s)]+)`)
	aptInstead   = lazy.Regexp(`^Note, selecting '([^']+)' instead of '([^']+)'`)
	dnfVersioned = lazy.Regexp(`^ ([A-Za-z0-9][A-Za-z0-9+._-]*) +\S+ +(\S+) `)
	dnfContinues = lazy.Regexp(`^ {2,}(?:noarch|x86_64|aarch64|i686) +(\S+) `)
)

// headings are the lines of apt and zypper below which the names stand of what is done to.
var headings = []struct {
	line func() *regexp.Regexp
	does string
}{
	{lazy.Regexp(`^The following .*(going|have) to be REMOVED:$`), removes},
	{lazy.Regexp(`^The following .*((going|have) to be downgraded|will be DOWNGRADED):$`), downgrades},
	{lazy.Regexp(`^The following .*NEW .*(going|have) to be installed:$`), brings},
}

// rehearsedIn reads a rehearsal.
func rehearsedIn(manager, said string) (out []rehearsed) {
	section := ""
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case manager == "dnf":
			out, section = dnfChange(out, section, line)
			continue
		case section != "" && strings.HasPrefix(line, "  "):
			out = append(out, text.Each(strings.Fields(line), func(name string) rehearsed { return rehearsed{does: section, name: name} })...)
			continue
		}
		section = ""
		for _, h := range headings {
			if section == "" && h.line().MatchString(line) {
				section = h.does
			}
		}
		if m := aptInstalls().FindStringSubmatch(line); m != nil {
			out = append(out, rehearsed{brings, m[1], m[2]}) // it does not tell what was named from what is needed
		} else if m := aptRemoves().FindStringSubmatch(line); m != nil {
			out = append(out, rehearsed{does: removes, name: m[2]})
		} else if m := aptInstead().FindStringSubmatch(line); m != nil {
			out = append(out, rehearsed{does: instead, name: m[1]})
		}
	}
	return out
}

func dnfChange(out []rehearsed, section, line string) ([]rehearsed, string) {
	if dnfSection().MatchString(line) || strings.HasPrefix(line, "Transaction Summary") {
		if strings.HasPrefix(line, "Removing") {
			return out, removes
		}
		return out, map[string]string{"Installing:": installs, "Upgrading:": brings, "Downgrading:": downgrades, "Installing dependencies:": brings,
			"Installing weak dependencies:": brings}[line]
	}
	if m := dnfReplaces().FindStringSubmatch(line); m != nil {
		return append(out, rehearsed{does: removes, name: m[1]}), section
	}
	if section == "" {
		return out, section
	}
	if m := dnfVersioned().FindStringSubmatch(line); m != nil {
		out = append(out, rehearsed{section, m[1], m[2]})
	} else if m := dnfContinues().FindStringSubmatch(line); m != nil && len(out) > 0 && out[len(out)-1].version == "" {
		out[len(out)-1].version = m[1] // a long name has a line of its own
	} else if m := dnfRow().FindStringSubmatch(line); m != nil {
		out = append(out, rehearsed{does: section, name: m[1]})
	}
	return out, section
}

// unnamed lists what a command would do that it does not name: another package in the
// place of one that it names, another version of one, an older version of anything but
// the driver, and a new package where something is removed. What a named package needs
// is the repository's to say, whose packages are signed.
func unnamed(argv []string, said string) (out []string) {
	manager := filepath.Base(argv[0])
	at := slices.IndexFunc(argv, func(a string) bool { return a == "install" || a == "remove" })
	if at < 0 {
		return nil
	}
	for _, c := range rehearsedIn(manager, said) {
		version, named := wanted(argv[at+1:], c.name)
		switch {
		case c.does == removes: // [removals] judges it
		case c.does == instead,
			c.does == installs && !named,
			c.does == downgrades && !machine.DriverPackage(c.name),
			c.does == brings && argv[at] == "remove" && !machine.DriverPackage(c.name),
			named && version != "" && c.version != "" && !sameEVR(version, c.version):
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", manager, c.does, c.name, c.version)))
		}
	}
	return out
}

// wanted reports whether operands name a package, and in which version; "" any.
func wanted(operands []string, name string) (version string, named bool) {
	for _, o := range operands {
		rest, ok := strings.CutPrefix(o, name)
		if ok && rest == "" {
			return "", true
		}
		if ok && len(rest) > 1 && (rest[0] == '=' || rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9') {
			return rest[1:], true
		}
	}
	return "", false
}

// sameEVR reports whether an installed version is the one that was named, where the
// epoch, the release and the architecture may be left out.
func sameEVR(named, got string) bool {
	bare := func(s string) string {
		if _, after, ok := strings.Cut(s, ":"); ok {
			return after
		}
		return s
	}
	named = bare(named)
	for _, arch := range []string{".x86_64", ".aarch64", ".noarch"} {
		named = strings.TrimSuffix(named, arch)
	}
	return bare(got) == named || strings.HasPrefix(bare(got), named+"-")
}
