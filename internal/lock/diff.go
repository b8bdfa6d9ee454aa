package lock

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/text"
)

// changes are the differences between two of something, in words.
type changes []string

func (c *changes) add(what, a, b string) {
	if a != b {
		*c = append(*c, fmt.Sprintf("%s %s → %s", what, orNone(a), orNone(b)))
	}
}

// Diff says in words what changed from one lock to another, for a reviewer: the
// lock's own lines first, then per profile. pylocks returns a profile's packages,
// nil where they cannot be read; then only the profile's own fields are compared.
func Diff(old, now *Lock, pylocks func(l *Lock, profile string) *Packages) []string {
	var out changes
	out.add("matrix", old.Matrix.Version, now.Matrix.Version)
	if old.Matrix.Version == now.Matrix.Version && old.Matrix.SHA256 != now.Matrix.SHA256 {
		out = append(out, "matrix "+old.Matrix.Version+": same version, other content")
	}
	out.add("requirements:", strings.Join(old.Input.Requirements, ", "), strings.Join(now.Input.Requirements, ", "))
	out.add("least envfix", old.RequiresEnvfix, now.RequiresEnvfix)
	for _, p := range old.Profiles {
		if !slices.Contains(now.Names(), p.Name) {
			out = append(out, "profile "+p.Name+" is gone")
		}
	}
	for i := range now.Profiles {
		q := &now.Profiles[i]
		p, err := old.Profile(q.Name)
		if err != nil {
			out = append(out, fmt.Sprintf("profile %s is new: torch %s, Python %s", q.Name, q.Torch, q.Python))
			continue
		}
		lines := p.diff(q)
		lines = append(lines, diffPackages(pylocks(old, p.Name), pylocks(now, q.Name))...)
		if len(lines) == 0 && p.Pylock.SHA256 != q.Pylock.SHA256 {
			lines = []string{"other bytes in " + q.Pylock.File}
		}
		out = append(out, text.Each(lines, func(l string) string { return q.Name + ": " + l })...)
	}
	return out
}

func (p *Profile) diff(q *Profile) []string {
	var out changes
	out.add("torch", p.Torch, q.Torch)
	out.add("build", p.Build, q.Build)
	out.add("CUDA", p.CUDA, q.CUDA)
	out.add("cuDNN", p.CuDNN, q.CuDNN)
	out.add("Python", p.Python, q.Python)
	out.add("arch list", strings.Join(p.Arches, " "), strings.Join(q.Arches, " "))
	out.add("os", p.Match.OS, q.Match.OS)
	out.add("arch", p.Match.Arch, q.Match.Arch)
	out.add("libc", p.Match.Libc, q.Match.Libc)
	out.add("gpu", p.Match.GPU, q.Match.GPU)
	out.add("compute capabilities", strings.Join(p.Match.SMs, " "), strings.Join(q.Match.SMs, " "))
	out.add("gfx", strings.Join(p.Match.GFX, " "), strings.Join(q.Match.GFX, " "))
	out.add("driver", p.Match.Driver, q.Match.Driver)
	out.add("environment", p.Match.Environment, q.Match.Environment)
	out.add("driver policy", p.Driver.Policy, q.Driver.Policy)
	out.add("driver branch", p.Driver.Branch, q.Driver.Branch)
	out.add("hosts", strings.Join(p.Hosts, " "), strings.Join(q.Hosts, " "))
	out.add("checks", strings.Join(p.Verify, " "), strings.Join(q.Verify, " "))
	out.add("indexes", indexText(p.Indexes), indexText(q.Indexes))
	out.add("to receive", fmt.Sprintf("%.2f GB", float64(p.Size.Download)/1e9), fmt.Sprintf("%.2f GB", float64(q.Size.Download)/1e9))
	return out
}

func diffPackages(old, now *Packages) []string {
	if old == nil || now == nil {
		return nil
	}
	var out []string
	for _, k := range old.Packages {
		if now.Find(k.Name) == nil {
			out = append(out, fmt.Sprintf("%s %s is gone", k.Name, k.Version))
		}
	}
	for _, k := range now.Packages {
		was := old.Find(k.Name)
		switch {
		case was == nil:
			out = append(out, fmt.Sprintf("%s %s is new", k.Name, k.Version))
		case was.Version != k.Version:
			out = append(out, fmt.Sprintf("%s %s → %s", k.Name, was.Version, k.Version))
		case !reflect.DeepEqual(was.Files(), k.Files()) || !reflect.DeepEqual(was.VCS, k.VCS) || !reflect.DeepEqual(was.Directory, k.Directory):
			out = append(out, fmt.Sprintf("%s %s: other files or hashes", k.Name, k.Version))
		}
	}
	return out
}

func indexText(in []Index) string {
	return strings.Join(text.Each(in, func(i Index) string { return i.Package + " from " + i.URL }), ", ")
}

func orNone(s string) string {
	return text.Clip(cmp.Or(s, "none"), 120)
}
