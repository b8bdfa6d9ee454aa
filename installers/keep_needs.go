package installers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// settle looks at what the packages that stay need of each other and of the new
// torch. It reports whether one more has to leave, and then has to be asked again.
func (c *keeper) settle() bool {
	c.want, c.known = nil, nil
	env := pep508.EnvironmentOf(c.b.h.Platform.OS, c.b.h.Platform.Arch, c.b.choice.Python)
	for _, name := range slices.Sorted(maps.Keys(c.stays)) {
		d := c.was[name]
		for _, line := range d.Requires {
			q, err := pep508.Parse(line, "")
			if err != nil || !env.Admits(q.Marker) {
				continue
			}
			if l := c.unmet(d, q); l.why != "" {
				delete(c.stays, name)
				c.leaves[name] = l
				return true
			}
		}
	}
	return false
}

// unmet says why a requirement of a package will not be met; "" it will, or it is
// not met today either.
func (c *keeper) unmet(d machine.HeldDist, q pep508.Requirement) dropped {
	needs := "needs " + q.Name + specWords(q)
	if to, chosen := c.b.choice.Packages[q.Name]; chosen {
		return c.changed(d, q, to)
	}
	was, there := c.was[q.Name]
	gone, leaves := c.leaves[q.Name]
	switch {
	case leaves && gone.again && !exactly(q, was.Version):
		c.want = xslices.Add(c.want, q.Name)
	case leaves:
		return dropped{why: fmt.Sprintf("%s, which cannot stay", needs), again: gone.again && c.mayAsk(d)}
	case pep508.Asks(c.b.r.Requirements, q.Name):
		return c.changed(d, q, c.askedVersion(q.Name))
	case torchsLibrary(q.Name):
		return c.ofTorch(d, q)
	case !there:
		c.complain(d, q, needs+", which is not installed")
	case q.URL == "" && !admits(q, was.Version):
		c.complain(d, q, fmt.Sprintf("%s, and %s is installed", needs, was.Version))
	}
	return dropped{}
}

// ofTorch: a package needs one of the libraries that come with torch. Where the
// chosen one does not bring it, or nobody knows, the installer finds it.
func (c *keeper) ofTorch(d machine.HeldDist, q pep508.Requirement) dropped {
	to := ""
	if library := strings.TrimPrefix(q.Name, "nvidia-"); brings(c.b.choice, q.Name) && library != q.Name {
		library, _, _ = strings.Cut(library, "-cu1")
		if to = pins(c.b.m, c.b.h, c.b.choice)[library]; library == "cudnn" {
			to = c.b.choice.CuDNN
		}
	}
	switch {
	case to != "":
		return c.changed(d, q, to)
	case !brings(c.b.choice, q.Name) || strings.HasPrefix(q.Name, "cuda-"):
		c.want = xslices.Add(c.want, q.Name)
	}
	return dropped{}
}

// changed compares a requirement with the version that the plan brings; "" is not
// known.
func (c *keeper) changed(d machine.HeldDist, q pep508.Requirement, to string) dropped {
	was := c.was[q.Name].Version
	needs := "needs " + q.Name + specWords(q)
	switch {
	case to == "" || q.URL != "" || admits(q, to):
		return dropped{}
	case was == to: // as it is today
		c.complain(d, q, fmt.Sprintf("%s, and %s is installed", needs, was))
		return dropped{}
	}
	return dropped{why: needs, again: c.mayAsk(d)}
}

func (c *keeper) complain(d machine.HeldDist, q pep508.Requirement, text string) {
	c.known = append(c.known, plan.Complaint{Package: d.Name, Needs: q.Name, Text: d.Name + " " + d.Version + " " + text})
}

// askedVersion is the exact version that was asked for, "" where it was not exact.
func (c *keeper) askedVersion(name string) string {
	for _, q := range c.b.r.Requirements {
		exact, ok := strings.CutPrefix(q.Spec.String(), "==")
		if q.Name == name && ok && !strings.ContainsAny(exact, ",*") {
			return strings.TrimSpace(exact)
		}
	}
	return ""
}

// admits compares as pip check does, which counts pre-releases.
func admits(q pep508.Requirement, ver string) bool {
	public, label := version.SplitLocal(ver)
	v, err := version.ParsePython(public)
	return err != nil || v.IsPreRelease() || q.Spec.Admits(v) && (q.Label == "" || label == "" || q.Label == label)
}

func exactly(q pep508.Requirement, ver string) bool {
	public, _ := version.SplitLocal(ver)
	return strings.TrimSpace(strings.TrimLeft(q.Spec.String(), "=")) == public
}

func specWords(q pep508.Requirement) string {
	return say.Either(q.Label != "", q.Spec.String()+"+"+q.Label, q.Spec.String())
}

// fill writes the decisions down.
func (c *keeper) fill(out *plan.Keep) {
	out.Known = c.known
	_, _, rest := c.b.requirements()
	loose := len(rest)+len(c.want) > 0
	for _, name := range slices.Sorted(maps.Keys(c.stays)) {
		d := c.was[name]
		k := plan.KeptPackage{Name: name, Version: d.Version, Loose: loose || slices.Contains(torchsOwn, name)}
		k.Copied = c.copyable(d)
		if d.Origin != nil {
			k.From, _ = again(d.Origin)
		} else if !k.Copied {
			k.Python = c.forOtherPython(d)
		}
		if len(d.Tags) > 0 && !k.Python && (k.From == "" || d.Origin.Kind == machine.FromArchive) {
			k.Files, k.Tags = d.Digest, strings.Join(slices.Sorted(slices.Values(d.Tags)), " ")
		}
		out.Stays = append(out.Stays, k)
	}
	for _, name := range slices.Sorted(maps.Keys(c.leaves)) {
		if d := c.was[name]; slices.Contains(c.want, name) {
			out.Changes = append(out.Changes, plan.Change{Name: name, From: d.Version, Why: "it " + c.leaves[name].why + "; the installer finds another"})
		} else {
			out.Leaves = append(out.Leaves, plan.Dropped{Name: name, Version: d.Version, Why: c.leaves[name].why})
		}
	}
	for _, name := range c.held.Leftovers {
		out.Leaves = append(out.Leaves, plan.Dropped{Name: name, Why: "what an interrupted installation left"})
	}
	for i, k := range out.Changes {
		if k.Goes && slices.Contains(c.want, k.Name) {
			out.Changes[i].Goes, out.Changes[i].Why = false, "as another package needs it"
		}
	}
	slices.SortFunc(out.Changes, func(a, b plan.Change) int {
		return cmp.Or(rank(a.Name)-rank(b.Name), strings.Compare(a.Name, b.Name))
	})
}

// forOtherPython reports whether a wheel was made for another Python than the new
// environment's, so that another file of the same version is needed.
func (c *keeper) forOtherPython(d machine.HeldDist) bool {
	tag := "cp" + strings.ReplaceAll(c.b.choice.Python, ".", "")
	for _, t := range d.Tags {
		python, rest, _ := strings.Cut(t, "-")
		abi, _, _ := strings.Cut(rest, "-")
		if abi == "none" || abi == "abi3" || abi == tag || python == tag {
			return false
		}
	}
	return len(d.Tags) > 0
}
