package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// amd answers for AMD GPUs: the ROCm builds on Linux, AMD's own wheels on Windows
// and WSL. It returns nil where none serves any of them.
func (s vendors) amd(gpus []machine.GPU) *outcome {
	if s.p.h.Platform.OS == "macos" {
		return s.p.chooser().metalOnMac(gpus)
	}
	if s.p.windowsDriver() {
		for _, g := range xslices.First(gpus, isDiscrete) {
			if v := s.amdIndex(g); v != nil {
				return s.vendorAnswer(v)
			}
		}
		return nil
	}
	able := xslices.Filter(gpus, s.rocmServes)
	out := xslices.Filter(gpus, func(g machine.GPU) bool { return !s.rocmServes(g) })
	if len(able) == 0 {
		return nil
	}
	if slices.ContainsFunc(able, isDiscrete) {
		out = append(out, xslices.Filter(able, func(g machine.GPU) bool { return !isDiscrete(g) })...)
		able = xslices.Filter(able, isDiscrete)
	}
	o := s.answerFor(rocm, able)
	if o.Decision == Install && len(out) > 0 {
		_, list := visible(able)
		o.Warnings = append(o.Warnings, fmt.Sprintf(
			"%s is left out: set HIP_VISIBLE_DEVICES=%s, since ROCm fails on GPUs that it does not know",
			gpuNames(out), list))
		if slices.ContainsFunc(out, isDiscrete) {
			o.Decision = Partial
			o.VisibleGPUs, _ = visible(able)
		}
	}
	return o
}

func isDiscrete(g machine.GPU) bool { return !g.Integrated }

// leftToOthers names the cards of other vendors that a chosen build does not use
// although builds of their own serve them: one environment holds one vendor's
// torch. Integrated GPUs beside a card are left out without a word.
func (s vendors) leftToOthers(q *attempt) []string {
	var out []string
	for _, o := range []struct {
		accel, vendor string
		serves        func(machine.GPU) bool
	}{{rocm, machine.AMD, s.rocmServes}, {xpu, machine.Intel, s.xpuServes}} {
		left := slices.DeleteFunc(s.p.vendor(o.vendor), func(g machine.GPU) bool { return g.Integrated || !o.serves(g) })
		if q.accel == cpu || q.accel == o.accel || len(left) == 0 || slices.ContainsFunc(q.gpus, func(g machine.GPU) bool { return g.Index == left[0].Index }) {
			continue
		}
		out = append(out, fmt.Sprintf("%s is not used by this build: an environment of its own with `--gpus %d` serves it", gpuNames(left), left[0].Index))
	}
	return out
}

// answerFor answers for GPUs that need no NVIDIA driver.
func (s vendors) answerFor(accel string, gpus []machine.GPU) *outcome {
	q, b := s.p.chooser().try(accel, gpus, driver{})
	if b == nil {
		return s.p.chooser().refuseAll(q)
	}
	return q.installs(Install, b)
}

// rocmServes reports whether any ROCm wheel for this system has working code for
// a GPU; conda's channels have none, which a request for conda finds out.
func (s vendors) rocmServes(g machine.GPU) bool {
	q := s.p.ask(rocm, []machine.GPU{g}, driver{}, py{})
	return slices.ContainsFunc(s.p.cache.wheels, func(b *matrix.Build) bool { return gpuCodeRule(q, b) == nil })
}

// rocmTarget returns what is known of a GPU's target in a ROCm build.
func (s vendors) rocmTarget(b *matrix.Build, g machine.GPU) (matrix.ROCmTarget, bool) {
	gfx := s.gfxOf(g)
	return xslices.Find(s.p.m.ROCm, func(t matrix.ROCmTarget) bool {
		return t.Label == b.Label && t.GFX == gfx && s.p.cache.admits(t.Torch, s.p.releaseOf(b).Torch)
	})
}

// gfxOf returns an AMD GPU's target; where the facts do not name it, the device
// table's.
func (s vendors) gfxOf(g machine.GPU) string {
	if g.GFX != "" {
		// rocminfo may add features: gfx90a:sramecc+:xnack-
		gfx, _, _ := strings.Cut(strings.ToLower(g.GFX), ":")
		return gfx
	}
	d, _ := s.device(g)
	return d.GFX
}

// amdIndex returns AMD's own index for a GPU on this platform.
func (s vendors) amdIndex(g machine.GPU) *matrix.VendorIndex {
	if s.p.h.Platform.Arch != "x86_64" {
		return nil // all of them are for x86_64 (facts/vendor_indexes.csv)
	}
	return s.index(machine.AMD, s.where(), s.gfxOf(g), "")
}

// ofPackages says where packages of the request have wheels of their own for AMD's GPUs.
func (s vendors) ofPackages() (out []string) {
	for _, g := range s.p.vendor(machine.AMD) {
		for _, r := range s.p.req.packages {
			if v := s.index(machine.AMD, s.where(), s.gfxOf(g), PlainName(r.Name)); v != nil {
				out = xslices.Add(out, fmt.Sprintf("`%s`: %s%s (not proven: nobody read them)",
					v.Command, v.Names, say.With(", for Python ", strings.Join(v.Pythons, ", "), "")))
			}
		}
	}
	return out
}

// where is the platform as vendors name it.
func (s vendors) where() string {
	if s.p.env() == machine.WSL2 {
		return machine.WSL2
	}
	return s.p.h.Platform.OS
}

// index returns a vendor's own index for a GPU on a platform, the released one before a
// nightly; of a package: where its wheels for such a GPU are.
func (s vendors) index(vendor, platform, gpu, of string) (found *matrix.VendorIndex) {
	for i := range s.p.m.VendorIndexes {
		v := &s.p.m.VendorIndexes[i]
		if v.Vendor == vendor && v.Package == of && slices.Contains(strings.Fields(v.Platform), platform) &&
			(slices.Contains(v.GPUs, gpu) || of != "" && len(v.GPUs) == 0) &&
			(found == nil || strings.Contains(found.Kind, "nightly") && !strings.Contains(v.Kind, "nightly")) {
			found = v
		}
	}
	return found
}

// jetsonIndex returns the index for a Jetson whose GPU no wheel of PyTorch's own
// serves (Orin: cubins for 8.0 and 8.6 do not run on 8.7).
func (s vendors) jetsonIndex(gpus []machine.GPU) *matrix.VendorIndex {
	if s.p.h.Platform.OS != "linux" || s.p.h.Platform.Arch != "aarch64" || len(gpus) == 0 {
		return nil
	}
	return s.index(machine.NVIDIA, s.p.chooser().jetpack(), gpus[0].SM.String(), "")
}

// vendorAnswer is use_vendor_index: what is in the index was not read, so no
// version is promised.
func (s vendors) vendorAnswer(v *matrix.VendorIndex) *outcome {
	o := &outcome{}
	o.Decision, o.Driver = UseVendorIndex, s.p.chooser().kept()
	c := &Choice{
		Build:    vendorBuild(v),
		Channel:  "pip",
		Index:    new(v.URL),
		Packages: map[string]string{cmp.Or(s.p.lead, "torch"): ""},
		Proof:    string(v.Proof),
		Source:   v.Source,
	}
	if cu, ok := matrix.LabelCUDA(c.Build); ok {
		c.CUDA = cu.String()
	}
	for _, p := range s.p.pythons() {
		if c.Python == "" || slices.Contains(v.Pythons, p.String()) && !slices.Contains(v.Pythons, c.Python) {
			c.Python = p.String()
		}
	}
	for _, name := range companions[:2] {
		if _, asked := s.p.req.asked[name]; asked {
			c.Packages[name] = ""
		}
	}
	chosen, _ := parsePy(c.Python)
	q := s.p.ask(cuda, s.p.vendor(machine.NVIDIA), driver{}, chosen)
	for _, r := range s.p.req.packages {
		if why := cmp.Or(q.packages().noFileIn(r.Name, r.Spec), q.packages().forOtherTorch(r, c.CUDA)); why != "" && r.Name != s.p.lead {
			return s.p.chooser().refuse("companions", fmt.Sprintf("%s is asked for, %s; whether %s has a wheel is not known", text.Cut(r.Text, 80), why, v.URL))
		}
		c.Packages[r.Name] = ""
	}
	o.Choice = c
	o.Reasons = []Reason{{
		Rule: "source",
		Text: fmt.Sprintf("%s own wheels do not serve the machine; %s publishes builds for it (%s: %s)",
			say.Either(s.p.lead == "", "PyTorch's", PlainName(s.p.lead)+"'s"), vendorName(v), v.Kind, v.Names),
		Source: v.Source,
	}}
	o.Warnings = []string{fmt.Sprintf("what %s holds was not read: versions are not promised (%s)", v.URL, v.Status)}
	if !xslices.Admits(v.Pythons, c.Python) {
		o.Warnings = append(o.Warnings, fmt.Sprintf("its wheels are known for Python %s; there is %s", strings.Join(v.Pythons, ", "), c.Python))
	}
	if len(s.p.req.torch) > 0 && s.p.req.torchText() != "torch" {
		o.Warnings = append(o.Warnings, fmt.Sprintf("whether it holds what %s asks for is not known", s.p.req.torchText()))
	}
	if v.Vendor == machine.AMD && s.p.env() == machine.WSL2 {
		o.Warnings = append(o.Warnings, "WSL also needs the matching Adrenalin driver on the Windows side")
	}
	return o
}

// forOtherTorch says that no wheel of a package, or of what holds its kernels, has code for
// the GPUs beside a torch of a CUDA of which no more is known; "" one may.
func (q packages) forOtherTorch(r pep508.Requirement, cu string) string {
	rows := xslices.Filter(q.a.p.wheels(r.Name), func(e *matrix.Extension) bool { return !e.Sdist && q.unfit(r, e) == "" })
	fits := func(e *matrix.Extension) bool {
		c := q.codeOf(e)
		return q.missingFor(e, c) == "" && !strings.HasPrefix(e.Torch.String(), "==") && (c.cuda == "" || major(c.cuda) == major(cu))
	}
	switch {
	case len(rows) == 0:
		return ""
	case !slices.ContainsFunc(rows, fits):
		return fmt.Sprintf("and no wheel of %s on the default index is for %s beside its vendor's torch", r.Name, gpuNames(q.a.gpus))
	case len(rows[0].Needs) > 0:
		return q.forOtherTorch(pep508.Requirement{Name: rows[0].Needs[0]}, cu)
	}
	return ""
}

func vendorName(v *matrix.VendorIndex) string {
	if by, third := strings.CutPrefix(v.Status, "third party ("); third && v.Vendor != machine.AMD {
		return strings.TrimSuffix(by, ")")
	}
	return say.Either(v.Vendor == machine.AMD, "AMD", "NVIDIA")
}

// vendorBuild names a vendor's builds after its URL: …/jp6/cu126 is cu126,
// …/rocm-rel-7.2.1/ is rocm7.2.1.
func vendorBuild(v *matrix.VendorIndex) string {
	last := lastPart(v.URL)
	if _, ok := matrix.LabelCUDA(last); ok {
		return last
	}
	if ver, ok := strings.CutPrefix(last, "rocm-rel-"); ok {
		return rocm + ver
	}
	return rocm
}

// intel answers for Intel GPUs: the XPU builds, on those that they support.
func (s vendors) intel(gpus []machine.GPU) *outcome {
	able := xslices.Filter(gpus, s.xpuServes)
	if len(able) == 0 {
		return nil
	}
	return s.answerFor(xpu, able)
}

// xpuServes reports whether PyTorch's XPU builds serve an Intel GPU on this
// system: Arc and Data Center GPU Max and the newer Arc-class integrated ones,
// not Iris and UHD.
func (s vendors) xpuServes(g machine.GPU) bool {
	d, ok := s.device(g)
	return ok && d.XPU && slices.Contains(d.XPUWhere, s.where())
}

// device looks a GPU up in the device table, by its PCI id or else by its name.
func (s vendors) device(g machine.GPU) (matrix.Device, bool) {
	d := remembered(s.p.cache.models, g.PCIID+"\x00"+g.Name, func() matrix.Device {
		d, _ := s.p.cache.table().LookupPCI(g.PCIID, g.Subsystem)
		if d.Vendor != g.Vendor {
			d, _ = xslices.Find(s.p.cache.table().LookupName(g.Name), func(m matrix.Device) bool { return m.Vendor == g.Vendor })
		}
		return d
	})
	return d, d.Vendor != ""
}
