package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"

	"golang.org/x/sync/errgroup"
)

// PinsOf returns what the wheels of a package ask of torch and of CUDA, a row for each
// release and platform from a day on that known does not hold already. Needs lists all that
// it requires, here or with an extra. The torch is that
// of METADATA; the CUDA that of the NVIDIA packages it requires, of the names of the
// libraries in the wheel (libbitsandbytes_cuda118.so), or of the runtime that a library
// links (libcudart.so.12). Yanked files, pre-releases and source distributions are left out,
// and libraries that name no torch they were compiled beside: they load beside few.
func (c *Client) PinsOf(ctx context.Context, name, since string, known func(v version.Python, os, arch string) bool) ([]matrix.Extension, error) {
	page, err := c.Project(ctx, name)
	if err != nil {
		return nil, err
	}
	jobs := pinJobs(page, since, known)
	var rows []matrix.Extension
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(MaxConnections)
	for _, j := range jobs {
		group.Go(func() error {
			found, err := c.pin(ctx, page.Name, j)
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, found...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b matrix.Extension) int {
		return cmp.Or(b.Version.Compare(a.Version), strings.Compare(a.OS+a.Arch, b.OS+b.Arch), strings.Compare(a.CUDA, b.CUDA))
	})
	return rows, nil
}

// A pinJob is one release on one platform, and one wheel of it.
type pinJob struct {
	file     File
	name     Name
	version  version.Python
	os, arch string
}

// pinJobs takes of every release and platform the wheel for the newest Python.
func pinJobs(page *Project, since string, known func(v version.Python, os, arch string) bool) []pinJob {
	var jobs []pinJob
	at := map[string]int{}
	for _, f := range page.Files {
		n, ok := ParseName(f.Name)
		v, err := version.ParsePython(n.Version)
		if !ok || err != nil || f.Yanked || f.Uploaded != "" && f.Uploaded < since || v.IsPreRelease() {
			continue
		}
		os, arch := n.Platform()
		if n.Tags[0] != "any" && (os == "" || arch == "") || known(v, os, arch) {
			continue
		}
		j := pinJob{f, n, v, os, arch}
		key := n.Version + " " + os + " " + arch
		if i, twice := at[key]; !twice {
			at[key] = len(jobs)
			jobs = append(jobs, j)
		} else if compareTags(jobs[i].name.Pythons[0], n.Pythons[0]) < 0 {
			jobs[i] = j
		}
	}
	return jobs
}

// pin reads one wheel: a row, or one for each major of CUDA that it has libraries for.
func (c *Client) pin(ctx context.Context, name string, j pinJob) ([]matrix.Extension, error) {
	w, err := c.Open(ctx, j.file)
	if err != nil {
		return nil, err
	}
	t := &Torch{File: j.file, Name: j.name}
	if t.Meta, err = w.metadata(ctx); err != nil {
		return nil, err
	}
	e := matrix.Extension{Package: name, Version: j.version, OS: j.os, Arch: j.arch, Proof: matrix.ByMetadata}
	env := pep508.EnvironmentOf(j.os, j.arch, j.name.Interpreter())
	e.Torch = torchOf(t.Meta, env)
	for _, r := range t.Meta.Requires {
		if !slices.Contains(e.Needs, r.Name) {
			e.Needs = append(e.Needs, r.Name)
		}
	}
	labels := w.labels()
	if len(labels) == 0 && !bounded(e.Torch) && (e.Torch.IsZero() || w.hasEnding(".so", ".pyd", ".dll")) {
		return nil, nil
	}
	if e.CUDA = requiredCUDA(t.Meta, env); e.CUDA != "" {
		return []matrix.Extension{e}, nil
	}
	if j.name.Tags[0] == "any" && w.hasEnding(".so") && !w.hasEnding(".dll", ".pyd") {
		e.OS, e.Arch = "linux", "x86_64" // a wheel for any system with libraries for one
	}
	if len(labels) > 0 {
		e.Proof = matrix.ByWheel
		return byMajor(e, labels), nil
	}
	if j.os == "macos" {
		return []matrix.Extension{e}, nil
	}
	if e.CUDA, err = w.runtime(ctx); e.CUDA != "" {
		e.Proof = matrix.ByWheel
	}
	return []matrix.Extension{e}, err
}

func (w *Wheel) metadata(ctx context.Context) (*Metadata, error) {
	name, ok := w.distInfo("METADATA")
	if !ok {
		return nil, errors.New(w.File.Name + ": it holds no METADATA")
	}
	b, err := w.Read(ctx, name, maxMetadata)
	if err != nil {
		return nil, err
	}
	return ParseMetadata(b)
}

func (w *Wheel) hasEnding(ends ...string) bool {
	return slices.ContainsFunc(w.names, func(n string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(n, end) })
	})
}

var (
	extraName   = lazy.Regexp(`extra *== *['"]([^'"]+)['"]`)
	otherDevice = lazy.Regexp(`cpu|hip|rocm|amd|xpu|hpu|npu|neuron|tpu|mps|musa|test|dev|doc`)
)

// torchOf is the torch that METADATA requires in an environment. Where it requires none
// and its extras for NVIDIA's GPUs all ask for the same, it is theirs: sglang[all].
func torchOf(meta *Metadata, env pep508.Environment) version.Specifier {
	var byExtra []version.Specifier
	for _, r := range meta.Requires {
		if r.Name != "torch" || r.Spec.IsZero() {
			continue
		}
		m := extraName().FindStringSubmatch(r.Marker)
		switch {
		case m == nil && env.Admits(r.Marker):
			return r.Spec
		case m != nil && !otherDevice().MatchString(m[1]) && strings.HasPrefix(r.Spec.String(), "=="):
			byExtra = append(byExtra, r.Spec)
		}
	}
	if len(byExtra) == 0 || slices.ContainsFunc(byExtra, func(s version.Specifier) bool { return s.String() != byExtra[0].String() }) {
		return version.Specifier{}
	}
	return byExtra[0]
}

// bounded reports whether a specifier ends at some version: >=2.0 and !=2.1 do not.
func bounded(s version.Specifier) bool {
	for clause := range strings.SplitSeq(s.String(), ",") {
		if clause = strings.TrimSpace(clause); clause != "" && !strings.HasPrefix(clause, ">") && !strings.HasPrefix(clause, "!=") {
			return true
		}
	}
	return false
}

var cudaPackage = lazy.Regexp(`^nvidia-.*-cu(\d\d)$`)

// requiredCUDA is the major of CUDA whose packages METADATA requires; "" none, or several.
func requiredCUDA(meta *Metadata, env pep508.Environment) string {
	found := ""
	for _, r := range meta.Requires {
		m := cudaPackage().FindStringSubmatch(r.Name)
		if m == nil || !env.Admits(r.Marker) {
			continue
		}
		if found != "" && found != m[1] {
			return ""
		}
		found = m[1]
	}
	return found
}

var cudaLibrary = lazy.Regexp(`_cuda(\d{3})(?:_[a-z]+)?\.(?:so|dll)$`)

// labels are the builds of torch that the names of the libraries in a wheel speak of.
func (w *Wheel) labels() []string {
	var out []string
	for _, n := range w.names {
		if m := cudaLibrary().FindStringSubmatch(path.Base(n)); m != nil && !slices.Contains(out, "cu"+m[1]) {
			out = append(out, "cu"+m[1])
		}
	}
	slices.Sort(out)
	return out
}

func byMajor(e matrix.Extension, labels []string) []matrix.Extension {
	var out []matrix.Extension
	for _, l := range labels {
		if i := len(out) - 1; i >= 0 && out[i].CUDA == l[2:4] {
			out[i].TorchLabels = append(out[i].TorchLabels, l)
			continue
		}
		e.CUDA, e.TorchLabels = l[2:4], []string{l}
		out = append(out, e)
	}
	return out
}

var cudart = lazy.Regexp(`libcudart\.so\.(\d{2})(?:\.\d)?\x00|cudart64_(\d{2})0?(?:_\d)?\.dll`)

// smallLibrary is the size up to which a library is read for the runtime that it links.
const smallLibrary = 16 << 20

// runtime is the CUDA of the runtime that a library of the wheel links, the smallest
// library that links one: "12"; "" none does, or only large ones.
func (w *Wheel) runtime(ctx context.Context) (string, error) {
	var names []string
	for _, n := range w.names {
		if end := path.Ext(n); (end == ".so" || end == ".pyd" || end == ".dll") && w.members[n].size >= 4096 && w.members[n].size <= smallLibrary {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(w.members[a].size, w.members[b].size) })
	for _, n := range names[:min(len(names), 3)] {
		b, err := w.Read(ctx, n, smallLibrary)
		if err != nil {
			return "", err
		}
		if m := cudart().FindSubmatch(b); m != nil {
			return string(bytes.Join(m[1:], nil)), nil
		}
	}
	return "", nil
}
