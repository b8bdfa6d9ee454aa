package apply

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
)

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
)

var (
	aptInstalls  = lazy.Regexp(`^Inst ([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)? (?:\[[^\]]*\] )?\(([^\s)]+)`)
	aptInstead   = lazy.Regexp(`^Note, selecting '([^']+)' instead of '([^']+)'`)
	dnfVersioned = lazy.Regexp(`^ ([A-Za-z0-9][A-Za-z0-9+._-]*) +\S+ +(\S+) `)
	dnfContinues = lazy.Regexp(`^ {2,}(?:noarch|x86_64|aarch64|i686) +(\S+) `)
	zypperDowns  = lazy.Regexp(`^The following .*(going|have) to be downgraded:$`)
	zypperNews   = lazy.Regexp(`^The following .*NEW .*(going|have) to be installed:$`)
)

// rehearsedIn reads a rehearsal; what it removes is read by [removals].
func rehearsedIn(manager, said string) (out []rehearsed) {
	section := ""
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		switch manager {
		case "apt-get":
			out, section = aptChange(out, section, line)
		case "dnf":
			out, section = dnfChange(out, section, line)
		case "zypper":
			switch {
			case strings.HasPrefix(line, "  "):
				for _, name := range strings.Fields(line) {
					if section != "" {
						out = append(out, rehearsed{does: section, name: name})
					}
				}
			case zypperDowns().MatchString(line):
				section = downgrades
			case zypperNews().MatchString(line):
				section = brings
			default:
				section = ""
			}
		}
	}
	return out
}

func aptChange(out []rehearsed, section, line string) ([]rehearsed, string) {
	if section != "" && strings.HasPrefix(line, "  ") {
		for _, name := range strings.Fields(line) {
			out = append(out, rehearsed{does: section, name: name})
		}
		return out, section
	}
	section = ""
	if line == "The following packages will be DOWNGRADED:" {
		section = downgrades
	} else if m := aptInstalls().FindStringSubmatch(line); m != nil {
		out = append(out, rehearsed{brings, m[1], m[2]}) // it does not tell what was named from what is needed
	} else if m := aptInstead().FindStringSubmatch(line); m != nil {
		out = append(out, rehearsed{does: instead, name: m[1]})
	}
	return out, section
}

func dnfChange(out []rehearsed, section, line string) ([]rehearsed, string) {
	if dnfSection().MatchString(line) || strings.HasPrefix(line, "Transaction Summary") {
		return out, map[string]string{"Installing:": installs, "Upgrading:": brings, "Downgrading:": downgrades, "Installing dependencies:": brings,
			"Installing weak dependencies:": brings}[line]
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
