package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Query says which rows are to be proven.
type Query struct {
	Torch  version.Specifier // zero: every release of the matrix
	OS     string            // linux
	Arch   string            // "" any
	Wheels []matrix.WheelSet // sizes and hashes on record; nil: not compared
}

// A Proof compares one row of the matrix with one wheel.
type Proof struct {
	Torch   string   `json:"torch"`
	Build   string   `json:"build"` // of the row; "" where there is none
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	Python  string   `json:"python"`
	File    string   `json:"file"`
	By      string   `json:"by"` // bytes, metadata, page or fatbins
	Source  string   `json:"source,omitempty"`
	Verdict Verdict  `json:"verdict"`
	Checks  []Check  `json:"checks"`
	Error   string   `json:"error,omitempty"`
	Notes   []string `json:"notes,omitempty"`

	Library *matrix.Library `json:"-"` // of a library of the stack: the row that its bytes make

	Set *matrix.WheelSet `json:"-"` // all wheels of the release on this platform, where their sizes and hashes are known

	sort version.Python
	pair *pair
	size int64 // of the file, as the server says; 0 unknown
}

// A pair is one release on one platform of the index, all its Python tags.
type pair struct {
	release *matrix.Release
	os      string
	arch    string
	label   string // of the file names
	files   []File // lowest Python first
}

// A job is one wheel to read.
type job struct {
	pair  *pair
	file  File
	bytes bool
}

// Prove reads the wheels of torch that an index has for the rows asked for: one
// of every release and platform by its bytes, the other Pythons by their
// metadata. It uses at most MaxConnections at a time and calls progress (which
// may be nil) after each wheel, from one goroutine at a time. The proofs come in
// the order newest release first, then architecture and Python. An error means
// that the page itself could not be read.
func (c *Client) Prove(ctx context.Context, m *matrix.Matrix, q Query, progress func(done, total int, file string)) ([]Proof, []string, error) {
	page, err := c.Project(ctx, "torch")
	if err != nil {
		return nil, nil, err
	}
	pairs, all := sortPairs(m, q, page)
	var jobs []job
	for _, p := range pairs {
		for i, f := range p.files {
			jobs = append(jobs, job{p, f, i == 0})
		}
	}
	if len(jobs) == 0 {
		return nil, page.Notes, fmt.Errorf("%s has no %s wheel of torch %s that the matrix knows", c.Address(), q.OS, q.Torch)
	}
	// The long readings first, so that none is left over at the end.
	jobs = xslices.First(jobs, func(j job) bool { return j.bytes })
	results, err := proofs(ctx, len(jobs), func(ctx context.Context, i int) Proof { return c.prove(ctx, jobs[i]) }, progress)
	if err != nil {
		return nil, page.Notes, err
	}
	for i := range results {
		if p := &results[i]; p.By == "bytes" && len(p.Checks) > 0 {
			p.Set = p.pair.set(results)
			p.Checks = append(p.Checks, compareSet(p.pair, p.Set, q.Wheels)...)
			p.Verdict = worst(p.Checks)
		}
	}
	all = append(all, results...)
	slices.SortStableFunc(all, func(a, b Proof) int {
		return cmp.Or(b.sort.Compare(a.sort), cmp.Compare(b.OS, a.OS), cmp.Compare(b.Arch, a.Arch),
			cmp.Compare(a.By, b.By), comparePython(a.Python, b.Python))
	})
	return all, page.Notes, nil
}

// sortPairs arranges the wheels of a page by release and platform, and reports
// the rows of the default index that no wheel stands for.
func sortPairs(m *matrix.Matrix, q Query, page *Project) ([]*pair, []Proof) {
	releases := map[string]*matrix.Release{}
	for _, r := range m.Releases {
		if q.Torch.Admits(r.Torch) {
			releases[r.Torch.String()] = r
		}
	}
	pairs := pairsOf(page, func(torch, os, arch string) *matrix.Release {
		if os != q.OS || q.Arch != "" && arch != q.Arch {
			return nil
		}
		return releases[torch]
	})
	for _, p := range pairs {
		p.files = latestBuilds(p.files)
	}
	if slices.ContainsFunc(pairs, func(p *pair) bool { return p.label != "" }) { // of PyTorch's own index, which is no default one
		return pairs, nil
	}
	return pairs, notThere(m, q, releases, func(torch, os, arch string) bool {
		return slices.ContainsFunc(pairs, func(p *pair) bool { return p.release == releases[torch] && p.os == os && p.arch == arch })
	})
}

// pairsOf arranges the wheels of torch on a page by release, platform and label: those of
// which of knows the release.
func pairsOf(page *Project, of func(torch, os, arch string) *matrix.Release) (pairs []*pair) {
	for _, f := range page.Files {
		n, ok := ParseName(f.Name)
		if !ok || n.Project != "torch" || f.Yanked {
			continue
		}
		os, arch := n.Platform()
		own := pair{release: of(n.Version, os, arch), os: os, arch: arch, label: n.Label}
		if own.release == nil {
			continue
		}
		i := slices.IndexFunc(pairs, func(p *pair) bool {
			return p.release == own.release && p.os == os && p.arch == arch && p.label == n.Label
		})
		if i < 0 {
			i = len(pairs)
			pairs = append(pairs, &own)
		}
		pairs[i].files = append(pairs[i].files, f)
	}
	return pairs
}

// notThere are the rows of the default index that no wheel stands for.
func notThere(m *matrix.Matrix, q Query, asked map[string]*matrix.Release, there func(torch, os, arch string) bool) []Proof {
	var missing []Proof
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			torch := r.Torch.String()
			if asked[torch] == nil || !b.Default || b.OS != q.OS || q.Arch != "" && b.Arch != q.Arch || there(torch, b.OS, b.Arch) {
				continue
			}
			missing = append(missing, Proof{Torch: torch, Build: b.Label, OS: b.OS, Arch: b.Arch, By: "page", Source: b.Source,
				Verdict: Unread, Error: "the index has no such wheel", sort: r.Torch})
		}
	}
	return missing
}

// latestBuilds sorts wheels by Python and keeps of each the one that installers
// take: torch 2.10.0 and 2.0.0 were built again, as torch-2.10.0-3-cp312-….
func latestBuilds(files []File) []File {
	build := func(f File) int { n, _ := ParseName(f.Name); return n.Build }
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(comparePython(pythonOf(a), pythonOf(b)), build(b)-build(a))
	})
	return slices.CompactFunc(files, func(a, b File) bool { return pythonOf(a) == pythonOf(b) && pythonOf(a) != "" })
}

func pythonOf(f File) string {
	n, _ := ParseName(f.Name)
	return n.Interpreter()
}

// comparePython orders 3.9, 3.10, 3.13, 3.13t, 3.14.
func comparePython(a, b string) int {
	number := func(s string) int {
		var minor int
		var suffix string
		_, _ = fmt.Sscanf(s, "3.%d%s", &minor, &suffix)
		n := minor * 2
		if suffix != "" {
			n += 1000 // after all others: the lowest ordinary Python is read by bytes
		}
		return n
	}
	return number(a) - number(b)
}

// prove reads one wheel and compares it.
func (c *Client) prove(ctx context.Context, j job) Proof {
	p := Proof{
		Torch:   j.pair.release.Torch.String(),
		OS:      j.pair.os,
		Arch:    j.pair.arch,
		Python:  pythonOf(j.file),
		File:    j.file.Name,
		By:      "metadata",
		Verdict: Unread,
		sort:    j.pair.release.Torch,
		pair:    j.pair,
	}
	row := j.pair.row(j.pair.label)
	var t *Torch
	var err error
	if j.bytes {
		p.By = "bytes"
		if t, err = c.Torch(ctx, j.file); err == nil && j.pair.label == "" {
			row = cmp.Or(row, j.pair.row(t.Label))
		}
	} else {
		t, err = c.TorchMetadata(ctx, j.file)
	}
	if row != nil {
		p.Build, p.Source = row.Label, row.Source
	}
	switch {
	case err != nil:
		p.Error = err.Error()
		return p
	case row == nil:
		p.Verdict, p.Error = Differ, "the matrix has no row for this wheel"
		return p
	}
	p.Checks = j.compare(row, t)
	p.size = cmp.Or(t.Size, j.file.Size)
	p.Notes = t.Gaps
	p.Verdict = worst(p.Checks)
	return p
}

// compare holds a row against what was read of its wheel.
func (j job) compare(row *matrix.Build, t *Torch) []Check {
	var checks []Check
	if j.bytes {
		found := text.Each(j.pair.files, pythonOf)
		checks = append(CompareBytes(row, t), comparePythons(row, found))
	} else {
		checks = CompareMetadata(row, t)
	}
	if f := j.file; f.Size > 0 && t.Size > 0 && f.Size != t.Size {
		checks = append(checks, Check{Field: "size", Row: fmt.Sprint(f.Size), Wheel: fmt.Sprint(t.Size), Verdict: Differ,
			Note: "the page and the server disagree about this file"})
	}
	return checks
}

// row finds the matrix's row: by label, else what the default index carries.
func (p *pair) row(label string) *matrix.Build {
	b, _ := xslices.Find(p.release.Builds, func(b *matrix.Build) bool {
		return b.OS == p.os && b.Arch == p.arch && (label == "" && b.Default || label != "" && b.Label == label)
	})
	return b
}

// set sums the wheels of a release on one platform up; nil where the size or the
// hash of one is not known.
func (p *pair) set(results []Proof) *matrix.WheelSet {
	w := &matrix.WheelSet{Torch: p.release.Torch.String(), OS: p.os, Arch: p.arch, Count: len(p.files)}
	for _, r := range results {
		if r.pair == p && r.size == 0 {
			return nil
		}
		if r.pair == p {
			w.Bytes += r.size
		}
	}
	var ok bool
	w.SHA256, ok = hashOfHashes(p.files)
	if !ok {
		return nil
	}
	return w
}

// compareSet compares the sizes and hashes of all wheels of a release on one
// platform with those on record. Range requests cannot check a file's hash: it is
// the page's word that is compared.
func compareSet(p *pair, found *matrix.WheelSet, sets []matrix.WheelSet) []Check {
	i := slices.IndexFunc(sets, func(w matrix.WheelSet) bool {
		return p.label == "" && w.Torch == p.release.Torch.String() && w.OS == p.os && w.Arch == p.arch
	})
	switch {
	case i < 0:
		return nil
	case found == nil:
		return []Check{{Field: "sha256", Row: sets[i].SHA256, Verdict: Unread, Note: "the index does not give the size and hash of every wheel"}}
	}
	checks := same(nil, "wheels", fmt.Sprint(sets[i].Count), fmt.Sprint(found.Count))
	checks = same(checks, "size", fmt.Sprint(sets[i].Bytes), fmt.Sprint(found.Bytes))
	return same(checks, "sha256", sets[i].SHA256, found.SHA256)
}

// hashOfHashes is the sha256 of what sha256sum prints for files, in the order of
// their names.
func hashOfHashes(files []File) (string, bool) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	for _, f := range files {
		if f.SHA256 == "" {
			return "", false
		}
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Name)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b.Bytes())), true
}
