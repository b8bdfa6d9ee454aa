package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A requirement is one Requires-Dist line (PEP 508).
type requirement struct {
	name   string // normalised
	extras []string
	spec   string
	marker string
}

var requiresDist = lazy.Regexp(`^([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?\s*\(?([^;()]*)\)?\s*(?:;\s*(.*))?$`)

func parseRequirement(line string) (requirement, bool) {
	m := requiresDist().FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return requirement{}, false
	}
	r := requirement{name: machine.NormalName(m[1]), spec: strings.TrimSpace(m[3]), marker: m[4]}
	for x := range strings.SplitSeq(m[2], ",") {
		if x = strings.TrimSpace(x); x != "" {
			r.extras = append(r.extras, x)
		}
	}
	return r, true
}

var markerTerm = lazy.Regexp(`^(\w+)\s*(==|!=)\s*["']([^"']*)["']$`)

// counts reports whether a requirement's marker surely holds: a requirement that
// may not hold is none to find missing.
func (e *exam) counts(marker string, extras []string) bool {
	if strings.TrimSpace(marker) == "" {
		return true
	}
	marker = strings.TrimSpace(marker)
	if parts := splitTop(marker, " or "); len(parts) > 1 {
		return slices.ContainsFunc(parts, func(p string) bool { return e.counts(p, extras) })
	}
	if parts := splitTop(marker, " and "); len(parts) > 1 {
		return !slices.ContainsFunc(parts, func(p string) bool { return !e.counts(p, extras) })
	}
	if strings.HasPrefix(marker, "(") && strings.HasSuffix(marker, ")") {
		return e.counts(marker[1:len(marker)-1], extras)
	}
	m := markerTerm().FindStringSubmatch(marker)
	if m == nil {
		return false
	}
	var have []string
	p := e.Machine.Platform
	switch m[1] {
	case "extra":
		have = extras
	case "platform_machine":
		have = []string{p.Arch}
	case "platform_system":
		have = []string{map[string]string{"linux": "Linux", "macos": "Darwin", "windows": "Windows"}[p.OS]}
	case "sys_platform":
		have = []string{map[string]string{"linux": "linux", "macos": "darwin", "windows": "win32"}[p.OS]}
	default:
		return false
	}
	return slices.Contains(have, m[3]) == (m[2] == "==")
}

// splitTop splits outside of parentheses.
func splitTop(s, sep string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], sep):
			out = append(out, s[from:i])
			from = i + len(sep)
		}
	}
	return append(out, s[from:])
}

// requirements: what torch pins is missing or of another version, or torch is
// another than its companions want. The metadata of the installed packages says
// it, so no table is needed.
func (e *exam) requirements() {
	if e.Files == nil {
		return
	}
	installed := map[string]machine.DistFiles{}
	for _, d := range e.Files.Dists {
		// The first copy in the order of the directories is the one that is used.
		if _, seen := installed[d.Name]; !seen && slices.ContainsFunc(e.Files.Sites, func(s string) bool { return strings.HasPrefix(d.Info, s+"/") }) {
			installed[d.Name] = d
		}
	}
	for _, name := range []string{"torchvision", "torchaudio"} {
		e.wantsTorch(installed[name], installed["torch"])
	}
	e.pinned(installed, installed["torch"], nil, 0)
}

// wantsTorch: a companion that was built for another torch.
func (e *exam) wantsTorch(d, torch machine.DistFiles) {
	if d.Name == "" || torch.Name == "" {
		return
	}
	for _, line := range d.Requires {
		r, ok := parseRequirement(line)
		if ok && r.name == "torch" && r.spec != "" && e.counts(r.marker, nil) && !admits(r.spec, public(orText(torch.Module, torch.Version))) {
			e.find("PY007", proven, Finding{Text: fmt.Sprintf("%s %s wants torch%s, and torch is %s", d.Name, d.Version, r.spec, orText(torch.Module, torch.Version)),
				Fix: []string{"`pip install --force-reinstall " + d.Name + "` of torch's release, from the index of torch"}, Mend: e.rebuild(d.Info)}, fact("%s/METADATA: %s", d.Info, line), fact("%s", torch.Info))
		}
	}
}

// pinned: NVIDIA's packages that a package requires, through cuda-toolkit too.
func (e *exam) pinned(installed map[string]machine.DistFiles, of machine.DistFiles, extras []string, depth int) {
	for _, line := range of.Requires {
		r, ok := parseRequirement(line)
		if !ok || r.name != "cuda-toolkit" && !strings.HasPrefix(r.name, "nvidia-") || !e.counts(r.marker, extras) {
			continue
		}
		have, there := installed[r.name]
		said := fact("%s/METADATA: %s", of.Info, line)
		switch {
		case !there:
			e.find("PY010", proven, Finding{Text: fmt.Sprintf("%s is missing; %s %s needs it", r.name, of.Name, of.Version), Fix: []string{fmt.Sprintf("`pip install \"%s%s\"`", r.name, r.spec)}, Mend: e.rebuild(of.Info)}, said)
		case r.spec != "" && !admits(r.spec, have.Version):
			f := e.find("LD003", proven, Finding{Text: fmt.Sprintf("%s is %s, and %s %s was built with %s", r.name, have.Version, of.Name, of.Version, strings.TrimLeft(r.spec, "=~ ")),
				Fix: []string{fmt.Sprintf("`pip install \"%s%s\"`", r.name, r.spec)}, Mend: e.rebuild(have.Info)}, fact("%s", have.Info), said)
			if newer(have.Version, strings.TrimRight(strings.TrimLeft(r.spec, "="), ".*")) {
				f.Severity, f.weight = Warning, likely
			}
		case r.name == "cuda-toolkit" && depth == 0:
			e.pinned(installed, have, r.extras, depth+1)
		}
	}
}

// admits reports whether a version is within a specifier; what cannot be read is.
func admits(spec, v string) bool {
	s, err := version.ParseSpecifier(spec)
	have := pythonVersion(v)
	return err != nil || have.IsZero() || s.Admits(have)
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
