package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
)

// counts reports whether a requirement's marker surely holds: a requirement that
// may not hold is none to find missing.
func (e *exam) counts(marker string, extras []string) bool {
	p, python := e.Machine.Platform, ""
	for _, y := range e.Machine.Pythons {
		if y.Active {
			python = y.Version
		}
	}
	return pep508.EnvironmentOf(p.OS, p.Arch, python).Surely(marker, extras...)
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
		if _, seen := installed[d.Name]; !seen &&
			slices.ContainsFunc(e.Files.Sites, func(s string) bool { return strings.HasPrefix(d.Info, s+"/") }) {
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
		r, err := pep508.Parse(line, "")
		if err == nil && r.Name == "torch" && e.counts(r.Marker, nil) &&
			!admits(r.Spec, read.Public(cmp.Or(torch.Module, torch.Version))) {
			fix := e.companionFix()
			if fix == nil {
				fix = []string{"`pip install --force-reinstall " + d.Name + "` of torch's release, from the index of torch"}
			}
			e.find("PY007", proven, fact("%s/METADATA: %s", d.Info, line), fact("%s", torch.Info)).
				says("%s %s wants torch%s, and torch is %s", d.Name, d.Version, r.Spec,
					cmp.Or(torch.Module, torch.Version)).
				fix(fix...).
				mend(e.rebuild(d.Info))
		}
	}
}

// pinned: NVIDIA's packages that a package requires, through cuda-toolkit too.
func (e *exam) pinned(installed map[string]machine.DistFiles, of machine.DistFiles, extras []string, depth int) {
	for _, line := range of.Requires {
		r, err := pep508.Parse(line, "")
		if err != nil || r.Name != "cuda-toolkit" && !strings.HasPrefix(r.Name, "nvidia-") ||
			!e.counts(r.Marker, extras) {
			continue
		}
		have, there := installed[r.Name]
		said := fact("%s/METADATA: %s", of.Info, line)
		switch {
		case !there:
			e.find("PY010", proven, said).
				says("%s is missing; %s %s needs it", r.Name, of.Name, of.Version).
				fix(fmt.Sprintf("`pip install \"%s%s\"`", r.Name, r.Spec)).
				mend(e.rebuild(of.Info))
		case !admits(r.Spec, have.Version):
			f := e.find("LD003", proven, fact("%s", have.Info), said).
				says("%s is %s, and %s %s was built with %s",
					r.Name, have.Version, of.Name, of.Version, strings.TrimLeft(r.Spec.String(), "=~ ")).
				fix(fmt.Sprintf("`pip install \"%s%s\"`", r.Name, r.Spec)).
				mend(e.rebuild(have.Info))
			if newer(have.Version, strings.TrimRight(strings.TrimLeft(r.Spec.String(), "="), ".*")) {
				f.Severity, f.weight = know.Warning, likely
			}
		case r.Name == "cuda-toolkit" && depth == 0:
			e.pinned(installed, have, r.Extras, depth+1)
		}
	}
}

// admits reports whether a version is within a specifier; what cannot be read is.
func admits(spec version.Specifier, v string) bool {
	have := pythonVersion(v)
	return have.IsZero() || spec.IsZero() || spec.Admits(have)
}
