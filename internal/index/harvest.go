package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Draft is what the wheels of an index say about a release that the matrix may
// not know yet.
type Draft struct {
	Release *matrix.Release
	Pins    map[*matrix.Build]map[string]string // what a build pins besides its toolkit; "" says that it brings none of it
	Notes   []string                            // what a person has to look at
}

func (d *Draft) note(format string, args ...any) {
	if s := text.Printable(fmt.Sprintf(format, args...)); !slices.Contains(d.Notes, s) {
		d.Notes = append(d.Notes, s)
	}
}

// Harvest reads every wheel of one torch release of an index, one of each
// platform and label by its bytes and the others by their metadata, and puts
// together the rows of the matrix. What wheels do not say (builds on other
// indexes, defects) is for a person to add.
func (c *Client) Harvest(ctx context.Context, m *matrix.Matrix, torch version.Python, progress func(done, total int, file string)) (*Draft, error) {
	page, err := c.Project(ctx, "torch")
	if err != nil {
		return nil, err
	}
	d := &Draft{Release: &matrix.Release{Torch: torch, Companions: map[string]version.Python{}}, Pins: map[*matrix.Build]map[string]string{}}
	pairs := d.pairs(page)
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s has no wheel of torch %s: %w", c.Address(), torch, ErrNotFound)
	}
	d.Notes = append(d.Notes, page.Notes...)
	companions, err := c.companions(ctx, d, torch)
	if err != nil {
		return nil, err
	}
	for i, p := range pairs {
		if progress != nil {
			progress(i, len(pairs), p.files[0].Name)
		}
		if err := c.harvestPair(ctx, m, d, p, companions); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.Release.Builds, func(a, b *matrix.Build) int {
		return cmp.Or(cmp.Compare(a.OS, b.OS), cmp.Compare(a.Arch, b.Arch), b.CUDA.Compare(a.CUDA), cmp.Compare(a.Label, b.Label))
	})
	d.common()
	return d, nil
}

// pairs arranges the wheels of the release by platform and label.
func (d *Draft) pairs(page *Project) []*pair {
	pairs := pairsOf(page, func(torch, _, _ string) *matrix.Release {
		if torch != d.Release.Torch.String() {
			return nil
		}
		return d.Release
	})
	for _, p := range pairs {
		for _, f := range p.files {
			if day, _, ok := strings.Cut(f.Uploaded, "T"); ok && (d.Release.Date == "" || day < d.Release.Date) && dayForm().MatchString(day) {
				d.Release.Date = day
			}
		}
		p.files = latestBuilds(p.files)
	}
	if d.Release.Date == "" && len(pairs) > 0 {
		d.note("the index does not say when the wheels were uploaded: fill in the date")
	}
	return pairs
}

var dayForm = lazy.Regexp(`^\d{4}-\d\d-\d\d$`)

func (c *Client) harvestPair(ctx context.Context, m *matrix.Matrix, d *Draft, p *pair, companions []companion) error {
	t, err := c.Torch(ctx, p.files[0])
	if err != nil {
		return err
	}
	b := d.build(m, p, t)
	for _, f := range p.files[1:] {
		other, err := c.TorchMetadata(ctx, f)
		if err != nil {
			return err
		}
		for _, check := range CompareMetadata(b, other) {
			if check.Verdict == Differ {
				d.note("%s: %s is %s, not %s as in %s", f.Name, check.Field, cmp.Or(check.Wheel, "none"), check.Row, p.files[0].Name)
			}
		}
	}
	b.Companions = companionsFor(companions, b)
	d.Release.Builds = append(d.Release.Builds, b)
	return nil
}

// build makes the row of one platform and label.
func (d *Draft) build(m *matrix.Matrix, p *pair, t *Torch) *matrix.Build {
	b := &matrix.Build{
		Release: d.Release, Label: t.Label, OS: p.os, Arch: p.arch, Default: p.label == "", Native: t.Native, PTX: t.PTX, Status: matrix.Offered, Proof: matrix.ByWheel,
		MacOSMin: t.Name.MacOS(), Glibc: t.Name.Glibc(),
	}
	switch {
	case b.Label == "" && p.os == "macos" && p.arch == "arm64":
		b.Label = "mps"
	case b.Label == "":
		b.Label = "cpu"
	}
	b.Index = "https://download.pytorch.org/whl/" + strings.Replace(b.Label, "mps", "cpu", 1)
	if b.Glibc.Less(t.Glibc) {
		b.Glibc = t.Glibc
	}
	if len(t.Gaps) > 0 {
		d.note("%s", strings.Join(t.Gaps, "; "))
	}
	for _, f := range p.files {
		d.addPython(b, pythonOf(f))
	}
	if t.CUDA != "" {
		d.stack(m, b, t)
	}
	return b
}

// stack fills in the versions of CUDA and its libraries.
func (d *Draft) stack(m *matrix.Matrix, b *matrix.Build, t *Torch) {
	env, major := t.Env(), t.CUDA
	major, _, _ = strings.Cut(major, ".")
	pin := func(names ...string) string {
		v := t.Meta.Pin(env, names...)
		if strings.Trim(v, "0123456789.") != "" && !strings.HasPrefix(v, "~=") {
			d.note("%s asks for %s %s: which version comes with it?", t.File.Name, names[0], v)
			return ""
		}
		return strings.TrimPrefix(v, "~=")
	}
	nvidia := func(library string) string { return pin("nvidia-"+library+"-cu"+major, "nvidia-"+library) }
	b.CuDNN, b.NCCL = version.ReadDotted(nvidia("cudnn")), version.ReadDotted(nvidia("nccl"))
	if v, err := version.ParsePython(pin("triton")); err == nil {
		b.Triton = v
	}
	pins := map[string]string{"nvshmem": nvidia("nvshmem"), "cusparselt": nvidia("cusparselt")}
	libraries := map[string]string{}
	for _, l := range toolkitLibraries {
		libraries[l] = nvidia(l)
	}
	toolkit := toolkitOf(m, t, libraries, pin("cuda-toolkit"))
	if b.CUDA = version.ReadDotted(toolkit); b.CUDA.IsZero() {
		b.CUDA = version.ReadDotted(t.CUDA)
		d.note("%s: which patch of CUDA %s?", t.File.Name, t.CUDA)
	}
	d.Pins[b] = differences(m, b, t, libraries, pins)
}

// toolkitLibraries are what a CUDA toolkit is made of, as far as wheels of torch
// pin it.
var toolkitLibraries = []string{"cublas", "cufft", "curand", "cusolver", "cusparse"}

// toolkitOf returns the CUDA toolkit of a wheel: what cuda-toolkit is pinned to,
// else the one whose libraries are pinned.
func toolkitOf(m *matrix.Matrix, t *Torch, libraries map[string]string, pinned string) string {
	if pinned != "" {
		return pinned
	}
	for _, c := range m.Components {
		if c.CUDA.MajorMinor() == t.CUDA && libraries["cublas"] != "" && c.Pins["cublas"] == libraries["cublas"] {
			return c.CUDA.String()
		}
	}
	return ""
}

// differences returns the libraries that a build pins otherwise than its toolkit
// does; "" for those that it does not bring.
func differences(m *matrix.Matrix, b *matrix.Build, t *Torch, libraries, pins map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range pins {
		if v != "" {
			out[k] = v
		}
	}
	toolkit, _ := xslices.Find(t.Meta.Requires, func(r pep508.Requirement) bool { return r.Name == "cuda-toolkit" && t.Env().Admits(r.Marker) })
	for _, c := range m.Components {
		if c.CUDA.Compare(b.CUDA) != 0 {
			continue
		}
		for _, l := range toolkitLibraries {
			have := libraries[l]
			if have == "" && slices.Contains(toolkit.Extras, l) {
				have = c.Pins[l]
			}
			if have != c.Pins[l] {
				out[l] = have
			}
		}
	}
	return out
}

// addPython widens a row's Pythons by one that there is a wheel for.
func (d *Draft) addPython(b *matrix.Build, python string) {
	if strings.HasSuffix(python, "t") {
		b.FreeThreaded = append(b.FreeThreaded, python)
		return
	}
	v, err := version.ParsePython(python)
	if err != nil {
		d.note("a wheel for no single CPython: %s %s %s", b.Label, b.OS, b.Arch)
		return
	}
	if b.PythonMin.IsZero() {
		b.PythonMin = v
	}
	if !b.PythonMax.IsZero() && minorOf(v) != minorOf(b.PythonMax)+1 {
		d.note("%s %s %s: no wheel between Python %s and %s", b.Label, b.OS, b.Arch, b.PythonMax, v)
	}
	b.PythonMax = v
}

// common lifts the versions of companions that all builds share to the release.
func (d *Draft) common() {
	for _, name := range []string{"torchvision", "torchaudio"} {
		seen := xslices.Set(d.Release.Builds, func(b *matrix.Build) string { return b.Companions[name] })
		if len(seen) != 1 || seen[""] {
			continue
		}
		for _, b := range d.Release.Builds {
			if v, err := version.ParsePython(b.Companions[name]); err == nil {
				d.Release.Companions[name] = v
			}
			delete(b.Companions, name)
		}
	}
	for _, b := range d.Release.Builds {
		if !b.Triton.IsZero() {
			d.Release.Companions["triton"] = b.Triton
		}
	}
}
