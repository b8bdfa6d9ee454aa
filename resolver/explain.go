package resolver

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// unused tells of a rule that there is nothing to say about: no team has a policy.
func (s *solver) unused(rule int) bool { return rules[rule].name == "policy" && s.req.Policy == nil }

// finish adds to a bare answer what explains it: reasons, warnings, what a newer
// choice was held back by, the nearest other answers and the alternatives.
func (s *solver) finish(o *outcome) *Resolution {
	o.Warnings = append(o.Warnings, s.warnings...)
	switch {
	case o.build != nil:
		for i := range rules {
			if s.unused(i) {
				continue
			}
			o.Reasons = append(o.Reasons, Reason{Rule: rules[i].name, Text: rules[i].passed(o.q, o.build), Source: o.build.Source})
		}
		o.Warnings = append(o.Warnings, o.q.remarks(o.build)...)
		o.Warnings = append(o.Warnings, s.leftToOthers(o.q)...)
		o.HeldBack = o.q.heldBack(o.build)
	case o.q != nil && o.Decision == NoSolution:
		o.Reasons = append(o.Reasons, o.q.why()...)
	}
	s.underPolicy(o)
	o.Warnings = append(o.Warnings, s.installedWarnings(o)...)
	o.Warnings = unique(o.Warnings)
	o.Nearest = s.nearest(o)
	o.Alternatives = s.alternatives(o)
	if o.Decision == NoSolution && len(o.Nearest) == 0 && len(o.Alternatives) == 0 {
		o.Alternatives = s.lastResort()
	}
	return &o.Resolution
}

// remarks are the warnings that come with a build here.
func (q *question) remarks(b *matrix.Build) []string {
	out := append(q.driverRemarks(b), q.machineRemarks(b)...)
	out = append(out, q.proofRemarks(b)...)
	for _, e := range q.extensions(b) {
		out = append(out, q.extensionRemarks(e, b)...)
	}
	return out
}

// driverRemarks: how the build runs on NVIDIA's driver here, and its known faults.
func (q *question) driverRemarks(b *matrix.Build) []string {
	var out []string
	if q.accel == cuda {
		if !q.natively(b) && !q.drv.cuda.IsZero() && q.compilesAtRunTime(b) {
			out = append(
				out,
				fmt.Sprintf(
					"%s leans on minor-version compatibility: it is built with CUDA %s and driver %s supports CUDA %s; code compiled at run time (torch.compile, NVRTC) may need a newer driver or `--jit`",
					torchName(b),
					b.CUDA.MajorMinor(),
					driverText(q.drv),
					q.drv.cuda,
				),
			)
		}
		if g, ok := q.ptxOnly(b); ok {
			out = append(out, fmt.Sprintf("%s has only PTX for %s: the driver compiles every kernel at its first use", torchName(b), gpuName(g)))
		}
		if !isConda(b) {
			faults := q.defectWarnings(b)
			out = append(append(out, q.stackWarnings(b, faults)...), faults...)
		}
	}
	return out
}

// machineRemarks: what of this machine a build of torch does not serve whole.
func (q *question) machineRemarks(b *matrix.Build) []string {
	var out []string
	if q.req.JIT && b.OS == "windows" && q.accel != cpu {
		out = append(
			out,
			"triton, which torch.compile needs for a GPU, is published for Linux only: on Windows triton-windows is built by others, and nobody has read it here",
		)
	}
	if t, ok := q.doubted(b); ok {
		out = append(out, fmt.Sprintf("%s with %s: %s", t.GFX, torchName(b), t.Doubt))
	}
	if n := slices.IndexFunc(q.gpus, func(g machine.GPU) bool { return g.MIG != "" }); n >= 0 && len(q.gpus) > 1 && q.accel == cuda {
		out = append(
			out,
			"a process uses one MIG slice, however many are visible (NVIDIA's MIG user guide): set CUDA_VISIBLE_DEVICES to one slice's UUID per process",
		)
	}
	if q.servesCPU(b) {
		out = append(out, q.sizeWarning(b))
	}
	if p, ok := q.ptxas(b); ok && b.OS == "linux" && q.accel == cuda && !isConda(b) {
		for _, g := range q.gpus {
			if why := q.assemblerFault(b, p, g); why != "" {
				out = append(out, "torch.compile does not run here: "+why+" (`--jit` chooses by it)")
				break
			}
		}
	}
	if isConda(b) && b.Notes != "" && q.accel == cuda && slices.ContainsFunc(q.gpus, func(g machine.GPU) bool { return g.SM.Less(turing) }) {
		out = append(out, b.Notes)
	}
	return out
}

// proofRemarks: how far what is said of the build is proven.
func (q *question) proofRemarks(b *matrix.Build) []string {
	var out []string
	if b.Status == matrix.NotSeen && q.req.label != b.Label && q.req.Channel == "" {
		out = append(out, fmt.Sprintf("nobody has seen the wheel of %s for %s %s: that PyTorch's own index has it is a report", torchName(b), b.OS, b.Arch))
	}
	if q.req.Channel != "" {
		out = append(out, q.channelRemark(b))
	} else if b.Proof == matrix.ByInference || b.Proof == matrix.ByReport {
		out = append(
			out,
			fmt.Sprintf(
				"%s is known by %s only: not proven from its wheel",
				torchName(b),
				map[matrix.Proof]string{matrix.ByInference: "inference", matrix.ByReport: "a report"}[b.Proof],
			),
		)
	}
	return out
}

// compilesAtRunTime reports whether a requested package compiles CUDA code at run
// time, which minor-version compatibility does not cover; torch itself does so with
// torch.compile alone, which `--jit` asks about.
func (q *question) compilesAtRunTime(b *matrix.Build) bool {
	return slices.ContainsFunc(q.extensions(b), func(e extension) bool { return e.row != nil && strings.Contains(e.row.Note, "JIT") })
}

// doubted is the target of an AMD GPU in use of which something is not confirmed.
func (q *question) doubted(b *matrix.Build) (matrix.ROCmTarget, bool) {
	if q.accel == rocm {
		for _, g := range q.gpus {
			if t, ok := q.rocmTarget(b, g); ok && t.Doubt != "" {
				return t, true
			}
		}
	}
	return matrix.ROCmTarget{}, false
}

// sizeWarning says what a CUDA build costs where only the CPU computes.
func (q *question) sizeWarning(b *matrix.Build) string {
	s := torchName(b) + " is a CUDA build, which computes on the CPU as well"
	if z, _ := q.m.Size(b.Release.Torch.String(), b.Label, b.OS, b.Arch); z.DownloadMB > 0 {
		s += fmt.Sprintf("; it takes %d MB to receive and %d MB on disk", z.DownloadMB, z.DiskMB)
	}
	return s + ": PyTorch's own index has smaller builds for the CPU"
}

var turing = machine.SM{Major: 7, Minor: 5}

func (q *question) extensionRemarks(e extension, b *matrix.Build) []string {
	switch {
	case q.isFramework(e.name) && !isConda(b):
		return nil
	case e.row != nil && e.row.Sdist && q.byWord(e.req, e.row.Version, b) != "":
		return []string{fmt.Sprintf("%s %s comes from %s, with `--allow-url`: the file is held to its hash, and nobody read its GPU code",
			e.name, e.row.Version, q.byWord(e.req, e.row.Version, b))}
	case e.row == nil && isConda(b) && q.known(e.name):
		return []string{fmt.Sprintf("whether %s on %s serves this GPU is not known", e.name, b.Index)}
	case e.row == nil && e.pin != "":
		return nil // the package's own table of torch releases names it
	case e.row == nil && !isConda(b) && e.req.URL == "" && q.known(e.name) && !q.loadsToo(e.req, b):
		out := []string{
			fmt.Sprintf(
				"no release of %s that %s admits is in the matrix: whether it loads beside %s is not checked",
				e.name,
				text.Cut(e.req.Text, 80),
				torchName(b),
			),
		}
		if rows := q.wheels(e.name); len(rows) > 0 && rows[0].Note != "" {
			out = append(out, e.name+": "+rows[0].Note)
		}
		return out
	case e.row == nil:
		return nil
	case q.accel != cuda:
		if e.row.CUDA != "" {
			return []string{fmt.Sprintf("%s %s is built for CUDA: without an NVIDIA GPU only a part of it works", e.name, e.row.Version)}
		}
		return nil
	}
	c := q.codeOf(e.row)
	if c.cuda != "" && (len(c.rows) == 0 || c.rows[0] != e.row) {
		return []string{fmt.Sprintf("which GPUs %s %s has code for was not read: not proven", e.name, e.row.Version)}
	}
	for _, g := range q.gpus {
		if native, ptx := q.m.ExtensionCovers(e.row, g.SM); !native && ptx {
			return []string{fmt.Sprintf("%s %s has only PTX for %s: its kernels are compiled at their first use", e.name, e.row.Version, gpuName(g))}
		}
	}
	return nil
}

// why says why nothing passes: one refusal per candidate, of those that the
// request admits where there are any, newest first.
func (q *question) why() []Reason {
	const most = 4
	type candidate struct {
		b  *matrix.Build
		rs []Reason
	}
	var asked, rest []candidate
	q.builds(func(b *matrix.Build) {
		if kind := accelOf(b.Label); kind != q.accel && !(kind == mps && q.accel == cpu) {
			return
		}
		c := candidate{b, q.refusals(b)}
		if len(c.rs) == 0 {
			return
		}
		if q.admitsTorch(b.Release.Torch) && (q.req.label == "" || q.req.label == b.Label) {
			asked = append(asked, c)
		} else {
			rest = append(rest, c)
		}
	})
	list := asked
	if len(list) == 0 {
		list = rest
	}
	var lists [][]Reason
	for _, c := range list {
		lists = append(lists, c.rs)
	}
	if r, ok := common(lists); ok {
		return []Reason{r}
	}
	sort.SliceStable(list, func(i, j int) bool { return len(list[i].rs) < len(list[j].rs) }) // the nearest misses first
	said := map[string]bool{}
	list = slices.DeleteFunc(list, func(c candidate) bool {
		text := weightiest(c.rs).Text
		if said[text] || len(said) == most {
			return true // older builds say the same
		}
		said[text] = true
		return false
	})
	sort.SliceStable(list, func(i, j int) bool { return q.cache.newerTorch(list[i].b, list[j].b) > 0 })
	var out []Reason
	for _, c := range list {
		r := weightiest(c.rs)
		r.Text = torchName(c.b) + ": " + r.Text
		out = append(out, r)
	}
	if len(out) == 0 {
		text := fmt.Sprintf("PyTorch publishes no %s build for %s %s", q.accel, q.h.Platform.OS, q.h.Platform.Arch)
		if q.req.Channel != "" && len(q.m.Releases) > 0 {
			text = fmt.Sprintf("what the %s channel has for %s is not known: no %s build of the newest release, torch %s, was seen for %s %s",
				q.req.Channel, q.accel, q.accel, q.m.Releases[0].Torch, q.h.Platform.OS, q.h.Platform.Arch)
		}
		out = []Reason{{Rule: "platform", Text: text}}
	}
	return out
}

// common is what a package is refused for beside every candidate: it is no fault of any
// torch, and what else speaks against some of them explains nothing.
func common(lists [][]Reason) (Reason, bool) {
	if len(lists) < 2 {
		return Reason{}, false
	}
	for _, r := range lists[0] {
		in := func(list []Reason) bool {
			return slices.ContainsFunc(list, func(x Reason) bool { return x.Rule == r.Rule && x.Text == r.Text })
		}
		if r.Rule == "companions" && !slices.ContainsFunc(lists, func(list []Reason) bool { return !in(list) }) {
			return r, true
		}
	}
	return Reason{}, false
}

// weightiest is the refusal that explains most.
func weightiest(rs []Reason) Reason {
	r := rs[0]
	for _, x := range rs[1:] {
		if weight(x.Rule) > weight(r.Rule) {
			r = x
		}
	}
	return r
}

// weight orders rules by how much their word explains: that a wheel does not
// exist for this system says more than that another was asked for.
func weight(rule string) int {
	return slices.Index(
		[]string{"request", "source", "policy", "jit", "companions", "stack", "defects", "driver-floor", "driver-gpu", "python", "gpu-code", "platform"},
		rule,
	)
}

// installedWarnings say what an environment's present packages mean for the
// choice: a build that pip would wrongly keep, and packages that the new torch
// breaks.
func (s *solver) installedWarnings(o *outcome) []string {
	c := o.Choice
	if c == nil {
		c = o.Then
	}
	if c == nil || c.Torch == "" {
		return nil
	}
	var out []string
	for _, p := range s.h.Installed {
		_, label := version.SplitLocal(p.Version)
		if machine.NormalName(p.Name) == "torch" {
			if label != "" && label != c.Build {
				out = append(
					out,
					fmt.Sprintf(
						"torch %s is installed; pip and uv would keep it, because a local label never decides: it is replaced by the %s build",
						text.Cut(p.Version, 80),
						c.Build,
					),
				)
			}
			continue
		}
		if _, mine := c.Packages[machine.NormalName(p.Name)]; mine {
			continue
		}
		if why := s.breaks(p, c.Torch); why != "" {
			out = append(out, fmt.Sprintf("%s %s is installed and %s: torch %s breaks it", text.Cut(p.Name, 80), text.Cut(p.Version, 80), why, c.Torch))
		}
	}
	return out
}

// breaks says what an installed package demands that a torch does not give.
func (s *solver) breaks(p machine.Package, torch string) string {
	v, err := version.ParsePython(torch)
	if err != nil {
		return ""
	}
	for _, line := range p.Requires {
		r, err := pep508.Parse(line, "")
		if err == nil && r.Name == "torch" && r.Marker == "" && !r.Spec.Admits(v) {
			return "needs torch" + r.Spec.String()
		}
	}
	public, _ := version.SplitLocal(p.Version)
	for _, e := range s.wheels(machine.NormalName(p.Name)) {
		if e.Version.String() == public && !e.Sdist && !e.Torch.Admits(v) {
			return "needs torch" + e.Torch.String()
		}
	}
	for _, r := range s.m.Releases {
		if w, ok := r.Companions[machine.NormalName(p.Name)]; ok && w.String() == public && slices.Contains(companions, machine.NormalName(p.Name)) {
			if r.Torch.String() != torch {
				return "goes with torch " + r.Torch.String()
			}
			return ""
		}
	}
	return ""
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
