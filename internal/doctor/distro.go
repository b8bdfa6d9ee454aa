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
	ofApt = lazy.Regexp(`\bapt(?:-get|-mark)? |\bdpkg\b|\bubuntu-drivers\b`)
)

// family is the distribution of the person as ways out name it; "" unknown.
func family(e *evidence.Evidence) string {
	p := e.Machine.Platform
	for _, id := range append([]string{p.Distro}, strings.Fields(p.DistroLike)...) {
		for _, row := range e.Limit("distributions").Values {
			if f := strings.Fields(row); slices.Contains(f[1:], id) {
				return f[0]
			}
		}
	}
	return ""
}

// ofDistribution is what is left of a way out where the person's distribution is known: not
// what another one's package manager does. What apt installs, dnf does by its own names.
func ofDistribution(e *evidence.Evidence, way string) string {
	name := family(e)
	lead := ofNames().FindString(way)
	switch {
	case name == "":
		return way
	case lead != "" && !strings.Contains(lead, name) && (name == "Ubuntu" || !strings.Contains(lead, "other")):
		return ""
	case name == "Ubuntu" || name == "Debian":
		return way[len(lead):]
	case name == "Fedora" || name == "RHEL":
		for _, row := range e.Limit("dnf-names").Values {
			apt, dnf, _ := strings.Cut(row, " = ")
			way = strings.ReplaceAll(way, "apt install "+apt, "dnf install "+dnf)
		}
	}
	return kept(way[len(lead):], ofApt())
}
