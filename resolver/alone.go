package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// Wheels of an index of its own whose code nobody has read and in which torch has no say,
// such as llama-cpp-python's: what they compile at run time is not known, so the newest
// CUDA that the driver runs natively is named, not one that minor versions admit.

// wayAlone is what one row offers: its index for the newest CUDA that runs here, and the
// build.
func (s frameworks) wayAlone(r pep508.Requirement, e matrix.Elsewhere, gpus []machine.GPU) []string {
	r.Name = e.Package
	if !s.p.cache.overlap(e.Versions, r.Spec) || len(e.Archs) > 0 && len(gpus) > 0 && len(archsFor(e.Archs, gpus, true)) == 0 {
		return nil
	}
	var out []string
	of, many := manyOf[e.Kind]
	asked := r.Name + say.With("[", strings.Join(r.Extras, ","), "]") + r.Spec.String() + say.If(r.Spec.IsZero(), e.Versions.String())
	pythons := s.p.pythons()
	fits := len(e.Pythons) == 0 || slices.ContainsFunc(pythons, func(p py) bool { return slices.Contains(e.Pythons, p.String()) })
	label, why := s.labelAlone(e, gpus)
	switch {
	case !many:
	case label != "" && fits:
		out = append(out, fmt.Sprintf("%s has %s of its own for %s: `pip install '%s' %s`, what it depends on from the default one "+
			"(not proven: nobody read its wheels)", r.Name, of.what, label, asked, fmt.Sprintf(of.args, strings.ReplaceAll(e.URL, "{cuda}", label))))
	case label != "":
		out = append(out, fmt.Sprintf("%s has %s of its own for %s, with wheels for Python %s: `--python %s`",
			r.Name, of.what, label, strings.Join(e.Pythons, ", "), e.Pythons[len(e.Pythons)-1]))
	case why != "":
		out = append(out, fmt.Sprintf("the index of %s has no wheel that serves: %s", r.Name, why))
	}
	if e.Build == "" || len(gpus) == 0 == slices.ContainsFunc(e.CUDA, isCUDA) {
		return out
	}
	d := s.p.installed() // the newest CUDA that it supports natively
	need := say.If(len(gpus) > 0, "the CUDA toolkit"+say.If(d.compared && !d.cuda.IsZero(), " "+d.cuda.String())+", then ")
	return append(out, fmt.Sprintf("source build of %s: %s`%s`", r.Name, need,
		strings.ReplaceAll(e.Build, "pip install "+r.Name, "pip install '"+plainText(r)+"'")))
}

// places are where a package is published beside the default index; of a name that stands for
// a framework's packages, where those are.
func (s *problem) places(name string) []matrix.Elsewhere {
	rows := s.elsewhere(name)
	if len(rows) == 0 && s.isFramework(name) {
		return xslices.Filter(s.m.Elsewhere, func(e matrix.Elsewhere) bool {
			return e.Alone && PlainName(e.Package) == name && matrix.IsFor(e.OS, e.Arch, s.h.Platform.OS, s.h.Platform.Arch)
		})
	}
	return rows
}

func isCUDA(label string) bool { _, ok := matrix.LabelCUDA(label); return ok }

// labelAlone is the newest CUDA of a row that the driver and the GPUs run, or what the row
// has for machines without; why: none is.
func (s frameworks) labelAlone(e matrix.Elsewhere, gpus []machine.GPU) (label, why string) {
	d := s.p.installed()
	for _, l := range slices.Backward(e.CUDA) {
		v, ok := matrix.LabelCUDA(l)
		switch g, first := s.newerThan(gpus, v); {
		case ok != (len(gpus) > 0):
		case ok && d.compared && !d.cuda.IsZero() && d.cuda.Less(v):
			why = fmt.Sprintf("driver %s runs CUDA %s natively, and they begin with CUDA %s", d.version, d.cuda, v)
		case ok && first != "":
			return "", fmt.Sprintf("CUDA %s knows no %s: that begins with CUDA %s", v, g, first)
		default:
			return l, ""
		}
	}
	return "", why
}

// newerThan is a GPU that a CUDA has no code for, and the first CUDA that has.
func (s frameworks) newerThan(gpus []machine.GPU, cu version.Dotted) (gpu, first string) {
	for _, g := range gpus {
		a, _ := s.p.m.Arch(g.SM)
		if v, err := version.ParseDotted(a.FirstCUDA); err == nil && cu.Less(v) {
			return gpuName(g), a.FirstCUDA
		}
	}
	return "", ""
}
