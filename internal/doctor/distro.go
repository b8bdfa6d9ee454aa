package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
)

var (
	// ofNames is the lead of a way out that is for some distributions alone.
	ofNames = lazy.Regexp(`^(?:(?:Debian|Ubuntu|Fedora|RHEL|Arch|other systems)(?:, )?)+: `)
	// ofApt is what only Debian and those that come from it have.
	ofApt      = lazy.Regexp(`\bapt(?:-get|-mark)? |\bdpkg\b|\bubuntu-drivers\b`)
	aptInstall = lazy.Regexp(`\bapt(?:-get)? install ((?:[^-\x60&;][^\x60&;]*?))( &&|\x60)`)
)

// family is the distribution of the person as ways out name it, and whether it has dnf;
// "" unknown.
func family(e *evidence.Evidence) (name string, dnf bool) {
	p := e.Machine.Platform
	for _, id := range append([]string{p.Distro}, strings.Fields(p.DistroLike)...) {
		for _, row := range e.Limit("distributions").Values {
			if f := strings.Fields(row); slices.Contains(f[1:], id) {
				return f[0], f[0] == "Fedora" || f[0] == "RHEL"
			}
		}
	}
	return "", false
}

// ofDistribution is what is left of a way out where the person's distribution is known: not
// what another one's package manager does. What apt installs, dnf does by its own names.
func ofDistribution(e *evidence.Evidence, way string) string {
	name, dnf := family(e)
	lead := ofNames().FindString(way)
	switch {
	case name == "":
		return way
	case lead != "" && !strings.Contains(lead, name) && !strings.Contains(lead, "other"):
		return ""
	case name == "Ubuntu" || name == "Debian":
		return way[len(lead):]
	case dnf:
		way = aptInstall().ReplaceAllStringFunc(way, func(command string) string { return byDNF(e, command) })
	}
	return kept(way[len(lead):], ofApt())
}

// byDNF is a command of apt's as one of dnf's, where each name is known.
func byDNF(e *evidence.Evidence, command string) string {
	m := aptInstall().FindStringSubmatch(command)
	names := strings.Fields(m[1])
	for i, name := range names {
		renamed := slices.ContainsFunc(e.Limit("dnf-names").Values, func(row string) bool {
			of, as, _ := strings.Cut(row, " ")
			rest, ok := strings.CutPrefix(name, of)
			if ok {
				names[i] = as + rest
			}
			return ok
		})
		if !renamed && name != "-r)" { // of $(uname -r)
			return command
		}
	}
	return "dnf install " + strings.Join(names, " ") + m[2]
}
