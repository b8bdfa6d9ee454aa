package index

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"

	"golang.org/x/sync/errgroup"
)

// DistsOf returns what the releases of a package from a day on say of themselves, a group
// for each: Requires-Python, of its requirements what keep returns, and the files. It
// reads a wheel's METADATA where the index serves it beside the wheel (PEP 658) and
// downloads none; a release of which it does not is marked as unread. Pre-releases, yanked
// files and the releases that known has are left out. One without a wheel says of its
// files alone.
func (c *Client) DistsOf(ctx context.Context, name, since string, known func(v string) bool, keep func(pep508.Requirement) (pep508.Requirement, bool)) ([]matrix.Dist, error) {
	page, err := c.Project(ctx, name)
	if err != nil {
		return nil, err
	}
	jobs := distJobs(page, since, known)
	out := make([]matrix.Dist, len(jobs))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(MaxConnections)
	for i, j := range jobs {
		group.Go(func() error {
			d, err := c.dist(ctx, page.Name, j, keep)
			mu.Lock()
			defer mu.Unlock()
			out[i] = d
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// A distJob is one release: the wheel that speaks for it, and all its files.
type distJob struct {
	version string
	wheel   File // none: it has no wheel whose METADATA is served
	rank    int  // of the wheel; 0 none
	wheels  bool // there is any wheel
	sdist   File
	files   *fileTable
}

func distJobs(page *Project, since string, known func(string) bool) []*distJob {
	jobs := map[string]*distJob{}
	var order []string
	for _, f := range page.Files {
		n, wheel := ParseName(f.Name)
		text := n.Version
		if !wheel {
			text, _ = SourceVersion(f.Name)
		}
		v, err := version.ParsePython(text)
		if err != nil || f.Yanked || f.Uploaded != "" && f.Uploaded < since || v.IsPreRelease() || known(v.String()) {
			continue
		}
		j := jobs[v.String()]
		if j == nil {
			j = &distJob{version: v.String(), files: &fileTable{rows: map[string]*fileRow{}}}
			jobs[v.String()] = j
			order = append(order, v.String())
		}
		if !wheel {
			j.sdist = f
			continue
		}
		j.wheels = true
		j.files.wheel(page.Name, n, "")
		if r := speaks(n); f.HasMetadata && r > j.rank {
			j.wheel, j.rank = f, r
		}
	}
	out := make([]*distJob, len(order))
	for i, v := range order {
		out[i] = jobs[v]
	}
	return out
}

// speaks orders the wheels of a release: one for every system speaks for it, else Linux'.
func speaks(n Name) int {
	os, arch := n.Platform()
	switch {
	case n.Tags[0] == "any":
		return 3
	case os == "linux" && arch == "x86_64":
		return 2
	}
	return 1
}

// dist reads the METADATA of one release; it is unread where it has wheels and the index
// serves the METADATA of none.
func (c *Client) dist(ctx context.Context, name string, j *distJob, keep func(pep508.Requirement) (pep508.Requirement, bool)) (matrix.Dist, error) {
	d := matrix.Dist{Package: name, Versions: []string{j.version}}
	if !j.wheels {
		d.Files = []matrix.Files{{Sdist: true}}
		d.Python, _ = version.ParseSpecifier(j.sdist.RequiresPython)
		return d, nil
	}
	if j.rank == 0 {
		d.Unread = true
		return d, nil
	}
	meta, err := c.metadataFile(ctx, j.wheel)
	if errors.Is(err, ErrNotFound) {
		d.Unread = true
		return d, nil
	}
	if err != nil {
		return d, err
	}
	d.Python, _ = version.ParseSpecifier(meta.RequiresPython)
	for _, r := range meta.Requires {
		kept, ok := keep(r)
		if t := spelled(kept); ok && !extraName().MatchString(r.Marker) && !slices.Contains(d.Requires, t) {
			d.Requires = append(d.Requires, t)
		}
	}
	slices.Sort(d.Requires)
	d.Files = j.files.grouped()
	for i := range d.Files {
		if f := &d.Files[i]; f.OS == "" && (slices.Contains(strings.Fields(f.Tags), "py3") || slices.Contains(strings.Fields(f.Tags), "py2.py3")) {
			d.Files = nil // for every system and Python
			return d, nil
		}
	}
	if j.sdist.Name != "" {
		d.Files = append(d.Files, matrix.Files{Sdist: true})
	}
	return d, nil
}

// spelled is a requirement in one form: name, extras, limits; marker.
func spelled(r pep508.Requirement) string {
	t := r.Name
	if len(r.Extras) > 0 {
		t += "[" + strings.Join(r.Extras, ",") + "]"
	}
	t += strings.ReplaceAll(r.Spec.String(), " ", "")
	if r.Marker != "" {
		t += "; " + strings.ReplaceAll(r.Marker, `"`, "'")
	}
	return t
}
