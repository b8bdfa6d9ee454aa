package apply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
)

// stale compares the facts that the plan was made from with the machine as it is.
func (r *run) stale(ctx context.Context) error {
	if r.Facts == nil || r.Fresh || r.plan.Basis.Request.Described {
		if !r.Fresh && r.Facts != nil {
			r.say("this plan was made for a described machine: its facts are not compared with this one")
		}
		return nil
	}
	now, err := r.Facts(ctx)
	if err != nil {
		return err
	}
	changes := Changes(r.plan.Basis.Facts, now)
	if len(changes) == 0 {
		return nil
	}
	return &Error{Kind: Stale, Text: "the machine is not as it was when the plan was made", Details: changes,
		Hints: []string{"`envfix plan` makes a new one"}}
}

// Changes names each fact that a plan rests on and that differs, old → new. What
// no plan depends on (notes, the time since boot, free memory) is left out.
func Changes(was, is machine.Machine) []string {
	var out []string
	differ := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s %s → %s", what, cmp.Or(a, "none"), cmp.Or(b, "none")))
		}
	}
	p, q := was.Platform, is.Platform
	differ("operating system", p.OS, q.OS)
	differ("architecture", p.Arch, q.Arch)
	differ("distribution", strings.TrimSpace(p.Distro+" "+p.DistroVersion), strings.TrimSpace(q.Distro+" "+q.DistroVersion))
	differ("C library", libc(p.Libc), libc(q.Libc))
	differ("kind of machine", p.Environment, q.Environment)
	differ("driver", driverVersion(was.Driver), driverVersion(is.Driver))
	if was.Driver != nil && is.Driver != nil {
		differ("loaded driver module", was.Driver.LoadedVersion.String(), is.Driver.LoadedVersion.String())
		differ("kernel module flavour", was.Driver.KernelModule, is.Driver.KernelModule)
	}
	differ("number of GPUs", fmt.Sprint(len(was.GPUs)), fmt.Sprint(len(is.GPUs)))
	for i := range min(len(was.GPUs), len(is.GPUs)) {
		differ(fmt.Sprintf("GPU %d", i), gpu(was.GPUs[i]), gpu(is.GPUs[i]))
	}
	out = append(out, changedTools(was.Tools, is.Tools)...)
	return append(out, changedPackages(was.Installed, is.Installed)...)
}

func libc(l *machine.Libc) string {
	if l == nil {
		return ""
	}
	return l.Kind + " " + l.Version.String()
}

func driverVersion(d *machine.Driver) string {
	switch {
	case d == nil:
		return ""
	case d.NotLoaded:
		return d.Version.String() + " (not loaded)"
	}
	return d.Version.String()
}

func gpu(g machine.GPU) string {
	s := g.Name
	if c := g.SM.String(); c != "" {
		s += ", " + c
	}
	if g.UUID != "" {
		s += ", " + g.UUID
	}
	if !g.Visible {
		s += ", not usable"
	}
	return s
}

// changedTools names the tools that are gone or at another place: the plan's
// commands name them by path.
func changedTools(was, is []machine.Tool) []string {
	paths := map[string]string{}
	for _, t := range is {
		paths[t.Name] = t.Path
	}
	var out []string
	for _, t := range was {
		if now := paths[t.Name]; now != t.Path {
			out = append(out, fmt.Sprintf("%s %s → %s", t.Name, t.Path, cmp.Or(now, "none")))
		}
	}
	return out
}

func changedPackages(was, is []machine.Package) []string {
	a, b := map[string]string{}, map[string]string{}
	for _, p := range was {
		a[p.Name] = p.Version
	}
	for _, p := range is {
		b[p.Name] = p.Version
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("package %s %s → %s", name, cmp.Or(a[name], "none"), cmp.Or(b[name], "none")))
		}
	}
	return out
}
