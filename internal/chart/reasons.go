package chart

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// empty is the cell of a release that does not run: for want of a build, of code, or
// for what a rule of the resolver says.
func (d *drawing) empty(rel *matrix.Release, h machine.Machine) Cell {
	g := h.GPUs[0]
	kind := xslices.Filter(rel.Builds, func(b *matrix.Build) bool { return b.OS == d.v.OS && b.Arch == d.v.Arch && madeFor(b.Label, g.Vendor) })
	c := Cell{Torch: rel.Torch.String(), State: None}
	switch {
	case len(kind) == 0:
		c.Text = "no build for " + vendorNames[g.Vendor] + " on " + d.v.OS + " " + d.v.Arch
	case slices.ContainsFunc(kind, func(b *matrix.Build) bool { return b.Status == matrix.NotSeen && d.codeFor(b, g) }) &&
		!slices.ContainsFunc(kind, func(b *matrix.Build) bool { return b.Status == matrix.Offered && d.codeFor(b, g) }):
		c.State, c.Text, c.Source, c.Proof = Unknown, "nobody has seen its wheel: not known whether it exists", source(kind[0]), kind[0].Proof
	case g.Vendor == machine.AMD:
		c = d.withoutTarget(c, kind, g.GFX)
	case !slices.ContainsFunc(kind, func(b *matrix.Build) bool { return d.codeFor(b, g) }):
		c.Text = "no build has code for " + g.SM.String() + "; they have it for " + strings.Join(codesOf(kind), " ")
		c.Source, c.Proof = source(kind[0]), kind[0].Proof
	default:
		c.Text, c.Source = d.refused(rel, h)
	}
	return c
}

// codeFor reports whether a build has code that a GPU of its vendor runs; of AMD's the
// data has a table of its own.
func (d *drawing) codeFor(b *matrix.Build, g machine.GPU) bool {
	native, ptx := d.m.Covers(b.Native, b.PTX, g.SM)
	return native || ptx || g.Vendor != machine.NVIDIA && g.Vendor != machine.AMD
}

// withoutTarget is the cell of a release of which no ROCm build is known to run on a target.
func (d *drawing) withoutTarget(c Cell, kind []*matrix.Build, gfx string) Cell {
	c.Text, c.Source, c.Proof = "no ROCm build of it is made for "+gfx, source(kind[0]), kind[0].Proof
	for _, b := range kind {
		for _, t := range d.m.ROCm {
			if t.GFX == gfx && t.Label == b.Label && t.Torch.Admits(b.Release.Torch) && t.Broken != "" {
				c.Text, c.Source, c.Proof = "build "+b.Label+": "+t.Broken, t.Source, t.Proof
				return c
			}
		}
		if b.Status != matrix.Offered {
			c.Text, c.Source, c.Proof = "build "+b.Label+" is "+string(b.Status)+": taken only by its name", source(b), b.Proof
			if b.Status == matrix.NotSeen {
				c.State = Unknown
			}
			return c
		}
	}
	return c
}

// refused is what the resolver says against every build of a release.
func (d *drawing) refused(rel *matrix.Release, h machine.Machine) (why, source string) {
	for _, v := range d.verdictsOn(h) {
		if v.Torch != rel.Torch.String() || !madeFor(v.Build, h.GPUs[0].Vendor) {
			continue
		}
		for _, w := range v.Words {
			if !w.OK && w.Text == v.Text {
				return "build " + v.Build + ": " + w.Text, w.Source
			}
		}
	}
	return "no build runs", ""
}

// verdictsOn are the resolver's on every build, asked once for a generation.
func (d *drawing) verdictsOn(h machine.Machine) []resolver.Verdict {
	g := h.GPUs[0]
	of := g.Vendor + g.SM.String() + g.GFX
	if d.verdictsOf != of {
		d.verdictsOf, d.verdicts = of, nil
		if c, err := resolver.Why(d.m, h, d.question(), pep508.Requirement{Name: "torch", Text: "torch"}, nil); err == nil {
			d.verdicts = c.Verdicts
		}
	}
	return d.verdicts
}

var vendorNames = map[string]string{machine.NVIDIA: "NVIDIA", machine.AMD: "AMD", machine.Intel: "Intel", machine.Apple: "Apple"}

func madeFor(label, vendor string) bool {
	switch vendor {
	case machine.NVIDIA:
		return strings.HasPrefix(label, "cu")
	case machine.AMD:
		return strings.HasPrefix(label, "rocm")
	case machine.Intel:
		return label == "xpu"
	}
	return label == "mps"
}

func codesOf(builds []*matrix.Build) []string {
	var all []machine.SM
	for _, b := range builds {
		for _, c := range b.Native {
			all = xslices.Add(all, c.SM)
		}
	}
	slices.SortFunc(all, machine.SM.Compare)
	return text.Each(all, machine.SM.String)
}
