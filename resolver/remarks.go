package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// remarks are the warnings that come with a build here.
func (q remarks) remarks(b *matrix.Build) []string {
	out := append(q.driverRemarks(b), q.machineRemarks(b)...)
	out = append(out, q.proofRemarks(b)...)
	out = append(out, q.a.fits().frameworkWarnings(b)...)
	if b.Framework != nil {
		return out
	}
	for _, e := range q.a.packages().extensions(b) {
		out = append(out, append(q.farBehind(e, b), q.ownRemarks(e, b)...)...)
		for _, n := range q.a.p.cache.needs[e.name] {
			if n.Of == matrix.OfSystem && !isConda(b) {
				out = append(out, e.name+": "+n.Effect)
			}
		}
	}
	return append(out, q.strangers(b)...)
}

// strangers names the packages of the request that nothing here tells of: a row that is
// missing is no wheel that is there.
func (q remarks) strangers(b *matrix.Build) []string {
	if q.a.p.req.Resolved {
		return nil
	}
	var names []string
	for _, r := range q.a.p.req.packages {
		if real, _ := q.a.p.m.KnownName(r.Name); !real && r.URL == "" && !isConda(b) && len(q.a.p.versionsOf(r.Name)) == 0 {
			names = append(names, text.Cut(r.Name, 60))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("nobody here knows %s: it may not exist for the machine (`--check-packages` has uv look)", strings.Join(names, ", "))}
}

// driverRemarks: how the build runs on NVIDIA's driver here, and its known faults.
func (q remarks) driverRemarks(b *matrix.Build) []string {
	var out []string
	if q.a.accel == cuda {
		// Minor-version compatibility does not cover what is compiled at run time. torch itself
		// does so with torch.compile alone, which `--jit` asks about.
		compiles := func(e extension) bool { return e.row != nil && strings.Contains(e.row.Note, "JIT") }
		if !q.a.natively(b) && !q.a.drv.cuda.IsZero() && slices.ContainsFunc(q.a.packages().extensions(b), compiles) {
			out = append(out, fmt.Sprintf(
				"%s leans on minor-version compatibility: it is built with CUDA %s and driver %s supports CUDA %s; code compiled at run time (torch.compile, NVRTC) may need a newer driver or `--jit`",
				torchName(b), b.CUDA.MajorMinor(), driverText(q.a.drv), q.a.drv.cuda))
		}
		if g, ok := q.a.ptxOnly(b); ok {
			out = append(out, q.ptxRemark(b, g))
		}
		if faults := q.a.defectWarnings(b); b.Framework != nil {
			out = append(out, faults...)
		} else if !isConda(b) {
			out = append(append(out, q.a.stackWarnings(b, faults)...), faults...)
		}
	}
	return out
}

// ptxRemark says of a build what serving a GPU by PTX alone means.
func (q remarks) ptxRemark(b *matrix.Build, g machine.GPU) string {
	if ptx, old := q.a.oldPTX(b, g.SM); old {
		return fmt.Sprintf("%s has nothing made for %s, only PTX of %s: the driver compiles every kernel at its first use, "+
			"what needs half precision (attention, bfloat16) fails, and torch itself warns of it: not proven that anything computes", torchName(b), gpuName(g), ptx)
	}
	return fmt.Sprintf("%s has only PTX for %s: the driver compiles every kernel at its first use", torchName(b), gpuName(g))
}

// machineRemarks: what of this machine a build of torch does not serve whole.
func (q remarks) machineRemarks(b *matrix.Build) []string {
	var out []string
	if q.a.p.req.JIT && b.OS == "windows" && q.a.accel != cpu {
		out = append(out,
			"triton, which torch.compile needs for a GPU, is published for Linux only: on Windows triton-windows is built by others, and nobody has read it here")
	}
	if t, ok := q.doubted(b); ok {
		out = append(out, fmt.Sprintf("%s with %s: %s", t.GFX, torchName(b), t.Doubt))
	}
	if n := slices.IndexFunc(q.a.gpus, func(g machine.GPU) bool { return g.MIG != "" }); n >= 0 && len(q.a.gpus) > 1 && q.a.accel == cuda {
		out = append(out,
			"a process uses one MIG slice, however many are visible (NVIDIA's MIG user guide): set CUDA_VISIBLE_DEVICES to one slice's UUID per process")
	}
	if has := q.a.p.h.Has("torch"); q.a.servesCPU(b) && (has == nil || has.Version != b.Release.Torch.String()+"+"+b.Label) {
		out = append(out, torchName(b)+" is a CUDA build, which computes on the CPU as well: PyTorch's own index has smaller builds for the CPU")
	}
	if why := q.noAssembler(b); why != "" {
		out = append(out, "torch.compile does not run here: "+why+" (`--jit` chooses by it)")
	}
	if isConda(b) && b.Notes != "" && q.a.accel == cuda && slices.ContainsFunc(q.a.gpus, func(g machine.GPU) bool { return g.SM.Less(turing) }) {
		out = append(out, condaNote(b))
	}
	return out
}

// noAssembler says why the driver does not load what triton assembles for some GPU; "" it does.
func (q remarks) noAssembler(b *matrix.Build) string {
	p, known := q.a.ptxas(b)
	if !known || b.OS != "linux" || q.a.accel != cuda || isConda(b) {
		return ""
	}
	return cmp.Or(text.Each(q.a.gpus, func(g machine.GPU) string { return q.a.assemblerFault(b, p, g) })...)
}

// condaNote is what is known of a conda build, for GPUs before Turing. A plan for
// conda-forge pins the cuDNN that its note asks for (installers, condaSpecs).
func condaNote(b *matrix.Build) string {
	if pin := "cudnn<9.11"; b.Index == managers.CondaForge && strings.Contains(b.Notes, pin) {
		return "the plan for it pins " + pin + ": newer ones have nothing for GPUs before Turing"
	}
	return b.Notes
}

// proofRemarks: how far what is said of the build is proven.
func (q remarks) proofRemarks(b *matrix.Build) []string {
	var out []string
	if l := q.a.p.req.listed(b); l != nil {
		return []string{fmt.Sprintf("%s: %s lists its wheel (asked on %s), and nobody has read it: what it runs on is inferred", torchName(b), text.Cut(l.Index, 80), l.Day)}
	}
	if b.Status == matrix.NotSeen && q.a.p.req.label != b.Label && q.a.p.req.Channel == "" {
		out = append(out, fmt.Sprintf("nobody has seen the wheel of %s for %s %s: that PyTorch's own index has it is a report", torchName(b), b.OS, b.Arch))
	}
	if q.a.p.req.Channel != "" {
		out = append(out, q.a.channelRemark(b))
	} else if inferred(b) && !q.sameElsewhere(b) {
		out = append(out, fmt.Sprintf("%s is known by %s only: not proven from its wheel", torchName(b),
			map[matrix.Proof]string{matrix.ByInference: "inference", matrix.ByReport: "a report"}[b.Proof]))
	}
	return out
}

func inferred(b *matrix.Build) bool {
	return b.Proof == matrix.ByInference || b.Proof == matrix.ByReport
}

// sameElsewhere reports whether the same build is better known for another system, with
// code for all of these GPUs: that it is inferred for this one changes no answer.
func (q remarks) sameElsewhere(b *matrix.Build) bool {
	return b.Status == matrix.Offered && slices.ContainsFunc(b.Release.Builds, func(o *matrix.Build) bool {
		return o.Label == b.Label && !inferred(o) && !slices.ContainsFunc(q.a.gpus, func(g machine.GPU) bool {
			native, ptx := q.a.p.covers(o, g.SM)
			return !native && !ptx
		})
	})
}

// doubted is the target of an AMD GPU in use of which something is not confirmed.
func (q remarks) doubted(b *matrix.Build) (matrix.ROCmTarget, bool) {
	if q.a.accel == rocm {
		for _, g := range q.a.gpus {
			if t, ok := q.a.p.vendors().rocmTarget(b, g); ok && t.Doubt != "" {
				return t, true
			}
		}
	}
	return matrix.ROCmTarget{}, false
}

// whyOlder says why the newest release of a package that was asked for is not the one that
// is taken beside a build; "" it is.
func (q remarks) whyOlder(e extension, b *matrix.Build) string {
	newer := q.newerThan(e)
	if len(newer) == 0 {
		return ""
	}
	i := slices.IndexFunc(newer, func(w *matrix.Extension) bool { // of a release's libraries that for this CUDA speaks
		return w.Version.Compare(newer[0].Version) == 0 && xslices.Admits(w.TorchLabels, b.Label)
	})
	w := newer[max(i, 0)]
	return say.With(w.Version.String()+" ", q.a.packages().wheelRefusal(e.req, w, b), "")
}

// newerThan are the wheels of newer releases that were asked for, newest first.
func (q remarks) newerThan(e extension) []*matrix.Extension {
	return xslices.Filter(q.a.p.wheels(e.name), func(w *matrix.Extension) bool {
		return e.row != nil && !w.Yanked && !w.Sdist && w.Version.Compare(e.row.Version) > 0 && q.a.p.cache.admits(e.req.Spec, w.Version)
	})
}

// farBehind says aloud that a package falls back by more than three minor releases, or to
// another major one, from the newest that was asked for.
func (q remarks) farBehind(e extension, b *matrix.Build) []string {
	why := q.whyOlder(e, b)
	if why == "" {
		return nil
	}
	between := map[string]bool{}
	for _, w := range q.newerThan(e) {
		between[version.Minor(w.Version.String())] = true
	}
	delete(between, version.Minor(e.row.Version.String()))
	if len(between) <= 3 {
		return nil
	}
	return []string{fmt.Sprintf("%s %s is %d minor releases behind the newest: %s", e.name, e.row.Version, len(between), why)}
}

func (q remarks) ownRemarks(e extension, b *matrix.Build) []string {
	for _, name := range q.a.p.m.BroughtBy(e.name) {
		if rows := q.a.p.wheels(name); q.a.accel == cuda && len(rows) > 0 && strings.Contains(rows[0].Note, "JIT") {
			return []string{fmt.Sprintf("%s brings %s, which %s", e.name, name, compiledLater)}
		}
	}
	switch {
	case q.a.p.isFramework(e.name) && !isConda(b):
	case e.row == nil:
		return q.withoutRow(e, b)
	case e.row.Sdist && q.a.packages().byWord(e.req, e.row.Version, b) != "":
		return []string{fmt.Sprintf("%s %s comes from %s, with `--allow-url`: the file is held to its hash, and nobody read its GPU code",
			e.name, e.row.Version, q.a.packages().byWord(e.req, e.row.Version, b))}
	case q.a.accel == cuda:
		return q.codeRemarks(e, b)
	case e.row.CUDA != "":
		return []string{fmt.Sprintf("%s %s is built for CUDA: without an NVIDIA GPU only a part of it works", e.name, e.row.Version)}
	}
	return nil
}

// withoutRow is what there is to know of a package of which no release is chosen.
func (q remarks) withoutRow(e extension, b *matrix.Build) []string {
	switch {
	case isConda(b) && q.a.p.known(e.name):
		return []string{fmt.Sprintf("whether %s on %s serves this GPU is not known", e.name, b.Index)}
	case e.pin != "", isConda(b), e.req.URL != "", !q.a.p.known(e.name), q.a.loadsToo(e.req, b):
		return nil // its own table of torch releases names it, or nothing is known of it
	}
	out := []string{fmt.Sprintf(
		"no release of %s that %s admits is in the matrix: whether it loads beside %s is not checked", e.name,
		text.Cut(e.req.Text, 80), torchName(b))}
	if rows := q.a.p.wheels(e.name); len(rows) > 0 && rows[0].Note != "" {
		out = append(out, e.name+": "+rows[0].Note)
	}
	return out
}

const compiledLater = "has no compiled GPU code: it is compiled at its first use, with nvcc of torch's own CUDA and a C++ compiler, which nothing here brings"

// codeRemarks is what there is to know of the GPU code of a package's release.
func (q remarks) codeRemarks(e extension, b *matrix.Build) []string {
	c := q.a.packages().codeOf(e.row)
	lacks := ""
	switch {
	case strings.Contains(e.row.Note, "JIT"):
		lacks = compiledLater
	case q.a.packages().bare(e.row):
		lacks = "links no CUDA and holds no code for a GPU: unless it compiles its own, it computes on the CPU"
	}
	if lacks != "" {
		r, _ := xslices.Find(q.a.p.req.packages, func(r pep508.Requirement) bool { return r.Name == e.name })
		made := q.a.packages().published(e.name, append([]version.Python{e.row.Version}, q.a.packages().versionsAsked(r)...), b)
		return slices.DeleteFunc([]string{fmt.Sprintf("%s %s %s", e.name, e.row.Version, lacks), made}, func(line string) bool { return line == "" })
	}
	if c.cuda != "" && (len(c.rows) == 0 || c.rows[0] != e.row) {
		return []string{fmt.Sprintf("which GPUs %s %s has code for was not read: not proven", e.name, e.row.Version)}
	}
	for _, g := range q.a.gpus {
		if native, ptx := q.a.p.m.Covers(e.row.Native, e.row.PTX, g.SM); !native && ptx {
			return []string{fmt.Sprintf("%s %s has only PTX for %s: its kernels are compiled at their first use", e.name, e.row.Version, gpuName(g))}
		}
	}
	return nil
}
