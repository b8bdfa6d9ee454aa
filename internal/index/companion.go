package index

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A companion is one release of a package that goes with torch.
type companion struct {
	name    string
	version version.Python
	cuda    map[string]string // CUDA of its wheel by "os arch": "13.0"; "" CPU
}

// companions finds the newest torchvision and torchaudio whose metadata admits
// the torch, and reads what CUDA they were built for.
func (c *Client) companions(ctx context.Context, d *Draft, torch version.Python) ([]companion, error) {
	var out []companion
	for _, name := range []string{"torchvision", "torchaudio"} {
		p, err := c.Project(ctx, name)
		if errors.Is(err, ErrNotFound) {
			d.note("the index has no %s", name)
			continue
		}
		if err != nil {
			return nil, err
		}
		found, err := c.companion(ctx, d, p, torch)
		if err != nil {
			return nil, err
		}
		if found != nil {
			out = append(out, *found)
		}
	}
	return out, nil
}

// companion finds the release of a package that pins this torch, else the newest
// that admits it. Pins fall with the versions, so the search ends at the first
// lower one.
func (c *Client) companion(ctx context.Context, d *Draft, p *Project, torch version.Python) (*companion, error) {
	versions, files := releasesOf(p)
	var admits *version.Python
	spec := ""
	for i, v := range versions {
		need, err := c.needsTorch(ctx, files[v.String()][0])
		if err != nil {
			return nil, err
		}
		if pinned, err := version.ParsePython(strings.TrimPrefix(need, "==")); err == nil && strings.HasPrefix(need, "==") {
			if pinned.Compare(torch) == 0 {
				return c.companionCUDA(ctx, companion{p.Name, v, map[string]string{}}, files[v.String()])
			}
			if pinned.Compare(torch) < 0 {
				break
			}
			continue
		}
		if s, err := version.ParseSpecifier(need); err == nil && s.Admits(torch) && admits == nil {
			admits, spec = &versions[i], need
		}
	}
	if admits == nil {
		d.note("no %s of the index goes with torch %s", p.Name, torch)
		return nil, nil
	}
	d.note("%s %s declares torch%s: see that it loads beside %s", p.Name, *admits, cmp.Or(spec, " without a version"), torch)
	return c.companionCUDA(ctx, companion{p.Name, *admits, map[string]string{}}, files[admits.String()])
}

// needsTorch returns the specifier of a wheel's requirement of torch, without a
// local label; "" where it has none, and what is no specifier where it is not
// understood.
func (c *Client) needsTorch(ctx context.Context, f File) (string, error) {
	meta, err := c.Metadata(ctx, f)
	if err != nil {
		return "", err
	}
	isTorch := func(r pep508.Requirement) bool { return r.Name == "torch" }
	if r, ok := xslices.Find(meta.Requires, isTorch); ok {
		return r.Spec.String(), nil
	}
	r, _ := xslices.Find(meta.Unread, isTorch)
	return r.Text, nil
}

// releasesOf sorts the wheels of a project by release, the newest first.
func releasesOf(p *Project) ([]version.Python, map[string][]File) {
	files := map[string][]File{}
	var versions []version.Python
	for _, f := range p.Files {
		n, ok := ParseName(f.Name)
		v, err := version.ParsePython(n.Version)
		if !ok || err != nil || n.Project != p.Name || f.Yanked || v.IsPreRelease() {
			continue
		}
		if files[n.Version] == nil {
			versions = append(versions, v)
		}
		files[n.Version] = append(files[n.Version], f)
	}
	slices.SortFunc(versions, func(a, b version.Python) int { return b.Compare(a) })
	return versions, files
}

var companionLabel = lazy.Regexp(`(?m)^__version__ = ['"][^'"+]*\+?([^'"]*)['"]`)

// companionCUDA reads version.py of one wheel per platform: its label is that of
// the torch it was built for.
func (c *Client) companionCUDA(ctx context.Context, out companion, files []File) (*companion, error) {
	for _, f := range files {
		n, _ := ParseName(f.Name)
		os, arch := n.Platform()
		key := os + " " + arch
		if _, done := out.cuda[key]; done {
			continue
		}
		w, err := c.Open(ctx, f)
		if err != nil {
			return nil, err
		}
		member := path.Join(out.name, "version.py")
		if w.MemberSize(member) < 0 {
			continue
		}
		b, err := w.Read(ctx, member, maxVersion)
		if err != nil {
			return nil, err
		}
		v, _ := matrix.LabelCUDA(companionLabel.Group(string(b)))
		out.cuda[key] = v.MajorMinor()
	}
	return &out, nil
}

// companionsFor says which companions load beside a build. torchvision compares
// the CUDA major at import and torchaudio major.minor (torchvision/extension.py,
// torchaudio/_extension/utils.py); a side without CUDA does not compare.
func companionsFor(list []companion, b *matrix.Build) map[string]string {
	out := map[string]string{}
	for _, k := range list {
		cuda, built := k.cuda[b.OS+" "+b.Arch]
		mine := b.CUDA.MajorMinor()
		if k.name == "torchvision" {
			cuda, _, _ = strings.Cut(cuda, ".")
			mine, _, _ = strings.Cut(mine, ".")
		}
		out[k.name] = k.version.String()
		if built && cuda != "" && mine != "" && cuda != mine {
			out[k.name] = ""
		}
	}
	return out
}
