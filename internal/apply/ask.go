package apply

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// allRPMs prints each installed package and its version, with its epoch.
var allRPMs = []string{"rpm", "-qa", "--queryformat", `%{NAME} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`}

// AskDriverPackages asks a package manager (apt-get, dnf or zypper) which versions
// of some packages it can install, what of the driver is installed, and what is
// held back. It changes nothing, refreshes nothing and asks no server; what the
// package manager does not tell is left out. It returns nil for another manager.
func AskDriverPackages(ctx context.Context, manager string, names []string) *machine.DriverPackages {
	return host{}.ask(ctx, manager, names)
}

func (m host) ask(ctx context.Context, manager string, names []string) *machine.DriverPackages {
	if _, known := packagers[manager]; !known {
		return nil
	}
	p := &machine.DriverPackages{Manager: manager, Offered: map[string][]string{}, Installed: map[string]string{}}
	for _, r := range m.offered(ctx, manager, names) {
		p.OnDisk = p.OnDisk || r.onDisk
		if slices.Contains(names, r.name) && machine.PackageVersion(r.version) && !slices.Contains(p.Offered[r.name], r.version) {
			p.Offered[r.name] = append(p.Offered[r.name], r.version)
		}
	}
	for _, r := range m.installedAll(ctx, manager) {
		if machine.DriverPackage(r.name) && machine.PackageVersion(r.version) {
			p.Installed[r.name] = r.version
		}
	}
	own := m.ownRecord()
	for _, h := range m.holds(ctx, manager) {
		if !holdName().MatchString(h.name) || slices.Contains(p.Held, h.name) {
			continue // a pattern of somebody's: the preflight knows what to say of it
		}
		p.Held = append(p.Held, h.name)
		if h.among(own) {
			p.OwnHolds = append(p.OwnHolds, h.name)
		}
	}
	return p
}

// A release is one version of one package.
type release struct {
	name, version string
	onDisk        bool // a repository on this disk has it
}

// among reports whether what was written down (a name, or a pattern over name and
// version) is about r.
func (r release) among(record []string) bool {
	return slices.ContainsFunc(record, func(glob string) bool {
		ok, _ := path.Match(glob, r.name+"-"+r.version)
		return ok || glob == r.name
	})
}

// offered lists the versions that could be installed, newest first.
func (m host) offered(ctx context.Context, manager string, names []string) (out []release) {
	switch manager {
	case "apt-get": // nvidia-driver | 535.261.03-1~deb12u1 | http://… Packages
		said, _ := m.output(ctx, append([]string{"apt-cache", "madison"}, names...))
		for line := range strings.Lines(said) {
			if f := strings.Split(line, "|"); len(f) == 3 && strings.HasSuffix(strings.TrimSpace(f[2]), "Packages") {
				out = append(out, release{strings.TrimSpace(f[0]), strings.TrimSpace(f[1]), strings.HasPrefix(strings.TrimSpace(f[2]), "file:")})
			}
		}
	case "dnf": // oldest first; dnf4 ends each line itself too
		said, _ := m.output(ctx, append([]string{"dnf", "-q", "-C", "repoquery", "--showduplicates", "--queryformat", `%{name} %{evr}\n`}, names...))
		out = pairs(said)
		slices.Reverse(out)
	case "zypper":
		said, _ := m.output(
			ctx,
			append([]string{"zypper", "--non-interactive", "--no-refresh", "search", "--details", "--match-exact", "--type", "package"}, names...),
		)
		for _, c := range cells(said) {
			if len(c) == 6 && c[2] == "package" && !strings.HasPrefix(c[5], "(") { // "(System Packages)": offered no more
				out = append(out, release{name: c[1], version: c[3]})
			}
		}
	}
	return out
}

// pairs reads lines of a name and a version.
func pairs(said string) (out []release) {
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) == 2 {
			out = append(out, release{name: f[0], version: f[1]})
		}
	}
	return out
}

// cells reads the rows of a table of zypper's.
func cells(said string) (out [][]string) {
	for line := range strings.Lines(said) {
		if !strings.Contains(line, "|") {
			continue
		}
		out = append(out, text.Each(strings.Split(strings.TrimRight(line, "\n"), "|"), strings.TrimSpace))
	}
	return out
}

func (m host) installedAll(ctx context.Context, manager string) (out []release) {
	if manager != "apt-get" {
		said, _ := m.output(ctx, allRPMs)
		return pairs(said)
	}
	said, _ := m.output(ctx, []string{"dpkg-query", "-W", "-f", `${db:Status-Status} ${Package} ${Version}\n`})
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "installed" {
			out = append(out, release{name: f[1], version: f[2]})
		}
	}
	return out
}

var (
	holdName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9+._-]*$`)
	// A line of dnf4's list: nvidia-open-3:580.95.05-1.el9.*; "!" in front excludes
	// that version alone.
	lockedEVR = lazy.Regexp(`^([A-Za-z0-9*][A-Za-z0-9+._*-]*?)-((?:\d+:)?[^-\s:]+-[^-\s]+?)(?:\.\*)?$`)
)

// holds lists what the package manager keeps at its version, with that version
// where it tells. The name may be a pattern.
func (m host) holds(ctx context.Context, manager string) (out []release) {
	switch manager {
	case "apt-get":
		said, _ := m.output(ctx, []string{"apt-mark", "showhold"})
		out = append(out, text.Each(strings.Fields(said), func(name string) release { return release{name: name} })...)
	case "dnf":
		said, _ := m.output(ctx, []string{"dnf", "-q", "versionlock", "list"}) // dnf4 without the plugin: nothing is locked
		out = append(locks(said), m.excludes()...)
	case "zypper":
		said, _ := m.output(ctx, []string{"zypper", "--non-interactive", "locks"})
		for _, c := range cells(said) {
			if len(c) >= 4 && strings.Trim(c[0], "0123456789") == "" {
				out = append(out, release{name: c[1]})
			}
		}
	}
	return out
}

// locks reads the list of dnf4's versionlock and that of dnf5, which has a line for
// the name and one for the version.
func locks(said string) (out []release) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "Package name: "); ok {
			out = append(out, release{name: name})
		} else if v, ok := strings.CutPrefix(line, "evr = "); ok && len(out) > 0 {
			out[len(out)-1].version = v
		} else if f := lockedEVR().FindStringSubmatch(line); f != nil {
			out = append(out, release{name: f[1], version: f[2]})
		}
	}
	return out
}

// excludes lists what dnf's configuration leaves out of every transaction.
func (m host) excludes() (out []release) {
	b, err := os.ReadFile(m.root + "/etc/dnf/dnf.conf")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); key != "exclude" && key != "excludepkgs" {
			continue
		}
		for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
			out = append(out, release{name: name})
		}
	}
	return out
}

// ownRecord reads what root's half wrote down of envfix's own holds.
func (m host) ownRecord() []string {
	b, _ := os.ReadFile(m.root + heldRecord)
	return strings.Fields(string(b))
}
