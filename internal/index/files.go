package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// FilesOf returns which files the index has of every release of a package from a
// day on: a row for each platform and floor, versions of which the same is known
// together. Yanked files, pre-releases and systems that torch is not for are left
// out.
func (c *Client) FilesOf(ctx context.Context, name, since string) ([]matrix.Files, error) {
	page, err := c.Project(ctx, name)
	if err != nil {
		return nil, err
	}
	page.Files = slices.DeleteFunc(page.Files, func(f File) bool { return f.Yanked || f.Uploaded != "" && f.Uploaded < since })
	return page.Rows(), nil
}

// Rows says which files a page has of each version: a row for each platform and floor.
// Pre-releases and systems that torch is not for are left out.
func (page *Project) Rows() []matrix.Files {
	t := &fileTable{rows: map[string]*fileRow{}}
	for _, f := range page.Files {
		if n, ok := ParseName(f.Name); ok {
			t.wheel(page.Name, n, f.RequiresPython)
		} else if v, ok := SourceVersion(f.Name); ok {
			t.add(page.Name, v, matrix.Files{Sdist: true}, f.RequiresPython, "")
		}
	}
	return t.grouped()
}

// A fileTable collects the tags of each version, platform and floor.
type fileTable struct {
	rows  map[string]*fileRow
	order []string
}

type fileRow struct {
	matrix.Files
	versions, tags []string
}

func (t *fileTable) wheel(project string, n Name, requires string) {
	os, arch := n.Platform()
	row := matrix.Files{OS: os, Arch: arch, Glibc: n.Glibc(), MacOS: n.MacOS()}
	switch tag := n.Tags[0]; {
	case tag == "any":
	case strings.HasPrefix(tag, "musllinux_"):
		if p := strings.SplitN(tag, "_", 4); len(p) == 4 {
			row.Musl, _ = version.ParseDotted(p[1] + "." + p[2])
		}
	case os == "", os == "windows" && arch == "arm64", arch == "" && !strings.HasSuffix(tag, "universal2"):
		return
	}
	for _, python := range n.Pythons {
		tag := python
		switch {
		case slices.Contains(n.ABIs, "abi3"):
			tag += "-abi3"
		case slices.Contains(n.ABIs, python+"t"):
			tag += "t"
		}
		t.add(project, n.Version, row, requires, tag)
	}
}

// unused are the Pythons that no plan takes: torch's data begin with 3.7.
var unused = lazy.Regexp(`^(?:pp|cp2|py2|cp3[0-6]$)`)

func (t *fileTable) add(project, text string, row matrix.Files, requires, tag string) {
	v, err := version.ParsePython(text)
	if err != nil || v.IsPreRelease() || unused().MatchString(tag) {
		return
	}
	row.Package = project
	row.Requires, _ = version.ParseSpecifier(requires) // a page may say nonsense: then nothing is known
	key := text + "\x00" + fileKey(&row)
	if t.rows[key] == nil {
		t.rows[key] = &fileRow{Files: row, versions: []string{v.String()}}
		t.order = append(t.order, key)
	}
	if r := t.rows[key]; tag != "" && !slices.Contains(r.tags, tag) {
		r.tags = append(r.tags, tag)
	}
}

func fileKey(r *matrix.Files) string {
	sdist := say.If(r.Sdist, "sdist")
	return strings.Join([]string{r.OS, r.Arch, r.Glibc.String(), r.Musl.String(), r.MacOS.String(), r.Requires.String(), sdist}, "\x00")
}

// grouped puts the versions together that have the same files, newest first.
func (t *fileTable) grouped() []matrix.Files {
	groups := map[string]*fileRow{}
	for _, key := range t.order {
		r := t.rows[key]
		slices.SortFunc(r.tags, compareTags)
		r.Tags = strings.Join(r.tags, " ")
		same := fileKey(&r.Files) + "\x00" + r.Tags
		if g := groups[same]; g != nil {
			g.versions = append(g.versions, r.versions...)
		} else {
			groups[same] = r
		}
	}
	all := slices.Collect(maps.Values(groups))
	for _, g := range all {
		slices.SortFunc(g.versions, newerFirst)
		g.Versions = strings.Join(g.versions, " ")
	}
	slices.SortFunc(all, func(a, b *fileRow) int {
		return cmp.Or(newerFirst(a.versions[0], b.versions[0]), cmp.Compare(fileKey(&a.Files), fileKey(&b.Files)), cmp.Compare(a.Tags, b.Tags))
	})
	return text.Each(all, func(g *fileRow) matrix.Files { return g.Files })
}

// newerFirst orders versions that were parsed before.
func newerFirst(a, b string) int { return version.ComparePublic(b, a) }

// compareTags orders cp39 before cp310.
func compareTags(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// SourceVersion returns the version in the name of a source distribution.
func SourceVersion(file string) (string, bool) {
	for _, end := range []string{".tar.gz", ".zip"} {
		stem, ok := strings.CutSuffix(file, end)
		if !ok {
			continue
		}
		i := strings.LastIndexByte(stem, '-')
		if j := strings.LastIndexByte(stem[:max(i, 0)], '-'); j > 0 && '0' <= stem[j+1] && stem[j+1] <= '9' && strings.Trim(stem[i:], "-0123456789") == "" {
			i = j // natten-0.14.2-4: a post release in its short form (PEP 440)
		}
		return stem[i+1:], i > 0
	}
	return "", false
}
