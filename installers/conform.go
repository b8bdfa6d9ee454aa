package installers

import (
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// conforms reports whether the environment that the facts were taken from holds
// exactly what was chosen, so that nothing is left to do.
func conforms(h machine.Machine, r resolver.Request, c *resolver.Choice) bool {
	if len(h.Installed) == 0 || !rightPython(h, c.Python) {
		return false
	}
	have := map[string]machine.Package{}
	for _, p := range h.Installed {
		have[p.Name] = p
	}
	if !strings.Contains(have["torch"].Version, map[string]string{"nightly": ".dev", "test": "rc"}[r.Channel]) {
		return false // a release, or the other channel's
	}
	for name, want := range c.Packages {
		p, ok := have[name]
		if !ok || want != "" && !same(p, want, c) {
			return false
		}
	}
	unmet := func(q pep508.Requirement) bool { p, ok := have[q.Name]; return !ok || !meets(p, q) }
	if slices.ContainsFunc(r.Requirements, unmet) || plainAlone(h, c) {
		return false
	}
	for _, held := range c.Holds {
		q, err := pep508.Parse(held, "")
		if p, ok := have[q.Name]; err != nil || ok && !meets(p, q) {
			return false
		}
	}
	return true
}

// plainAlone reports that a package is chosen with an extra that brings its CUDA, which is not there.
func plainAlone(h machine.Machine, c *resolver.Choice) bool {
	withExtra := slices.ContainsFunc(slices.Collect(maps.Values(c.Ask)), func(ask string) bool { return strings.Contains(ask, "[") })
	return withExtra && !slices.ContainsFunc(h.Installed, func(p machine.Package) bool { return strings.HasPrefix(p.Name, "nvidia-cu") })
}

// holdsProject reports whether the environment holds all that is installed in place; also
// where nobody looked into it.
func holdsProject(t plan.Target) bool {
	if t.Held == nil || !t.Held.Files {
		return true
	}
	return !slices.ContainsFunc(inPlace(t), func(dir string) bool {
		return !slices.ContainsFunc(t.Held.Dists, func(d machine.HeldDist) bool { return isProject(d, t) && localWords(d.Origin.URL) == dir })
	})
}

// inPlace are the folders that are installed in place: the project itself the last.
func inPlace(t plan.Target) []string { return append(slices.Clone(t.Members), say.All(t.Editable)...) }

func isProject(d machine.HeldDist, t plan.Target) bool {
	return d.Origin != nil && d.Origin.Kind == machine.FromEditable && slices.Contains(inPlace(t), localWords(d.Origin.URL))
}

// meets reports whether an installed package has a version that is asked for.
func meets(p machine.Package, q pep508.Requirement) bool {
	return q.Spec.Admits(version.Public(p.Version))
}

// same compares an installed package with a chosen version. A wheel of the
// default index carries no label in its metadata: for torch the CUDA in its
// version.py tells the build, and for the others the public version decides.
func same(p machine.Package, want string, c *resolver.Choice) bool {
	_, label := version.SplitLocal(p.Version)
	_, wantLabel := version.SplitLocal(want)
	if v := version.Public(want); v.IsZero() || version.Public(p.Version).Compare(v) != 0 {
		return false
	}
	if p.Name == "torch" {
		if label != "" {
			return label == c.Build
		}
		return p.CUDA != nil && *p.CUDA == c.CUDA || p.CUDA == nil && c.CUDA == ""
	}
	return label == "" || wantLabel == "" || label == wantLabel
}

func rightPython(h machine.Machine, want string) bool {
	p, ok := xslices.Find(h.Pythons, func(p machine.Python) bool { return p.Active })
	return ok && isPython(p, want)
}

// leftBehind warns of what an environment in use holds and the new one will not:
// one that is activated elsewhere, or conda's.
func (b *builder) leftBehind() {
	if !b.inEnvironment("venv", "conda") || b.t.InPlace {
		return // a system's Python keeps what it has
	}
	asked := xslices.Set(b.r.Requirements, func(q pep508.Requirement) string { return q.Name })
	var others []string
	for _, p := range b.h.Installed {
		_, chosen := b.choice.Packages[p.Name]
		if !chosen && !asked[p.Name] && !torchsLibrary(p.Name) && !slices.Contains(torchsOwn, p.Name) && !strings.HasPrefix(p.Name, "pip") {
			others = append(others, p.Name)
		}
	}
	if len(others) == 0 {
		return
	}
	b.warn("the new environment does not hold what the one in use does besides (%s%s): name them, use `-r FILE`, or `--in-place`",
		strings.Join(others[:min(5, len(others))], ", "), say.If(len(others) > 5, " and more"))
}

// inEnvironment reports whether the facts are of an environment of one of the kinds, venv
// or conda, which the plan replaces, and not of a system's Python, nor of one that is on
// another system.
func (b *builder) inEnvironment(kinds ...string) bool {
	return slices.ContainsFunc(b.h.Pythons, func(p machine.Python) bool { return p.Active && p.Path != "" && slices.Contains(kinds, p.Source) })
}
