package apply

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
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
		return &fail.Error{Code: fail.Preflight, Text: "dnf finds no way to install what the plan names", Details: lastLines(said, 12),
			Hints: []string{"nothing was changed; `envfix plan` makes a new plan, with the versions that are there now"}}
	}
	bad := slices.DeleteFunc(removals(manager, said), func(name string) bool {
		return slices.ContainsFunc(s.Rehearsal.MayRemove, func(glob string) bool { ok, _ := path.Match(glob, name); return ok })
	})
	if err := wouldRemove(bad); err != nil {
		return err
	}
	return wouldDo(unnamed(s.Run.Argv, said))
}

func wouldDo(what []string) error {
	if len(what) == 0 {
		return nil
	}
	return &fail.Error{Code: fail.Preflight, Text: "the package manager would do what the plan does not name", Details: what,
		Hints: []string{"nothing was changed; `envfix plan` makes a new plan, with what the repositories have now"}}
}

func wouldRemove(bad []string) error {
	if len(bad) == 0 {
		return nil
	}
	return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("installing the driver would remove %d packages that the plan does not name", len(bad)), Details: bad,
		Hints: []string{"nothing was changed; remove them yourself if you can do without them, or keep the driver that is there"}}
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
	if err := wouldRemove(slices.DeleteFunc(removals(filepath.Base(argv[0]), shows), machine.DriverPackage)); err != nil {
		return err
	}
	return wouldDo(unnamed(argv, shows))
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
	out := append(slices.Clone(argv[:at+1]), word)
	for _, a := range argv[at+1:] {
		if a != "--no-download" && (word != "--assumeno" || a != "-y" && a != "--assumeyes") {
			out = append(out, a)
		}
	}
	return out
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
		Details: lastLines(
			said,
			4,
		), Hints: []string{"nothing of the driver was changed; `envfix plan` makes a new plan, with the version that is there now"}}
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
