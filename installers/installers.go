// Package installers turns a resolution into the steps of a plan: the exact
// command lines of uv, pip, conda and the system's package manager. It runs
// nothing and reads nothing; package apply does.
package installers

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// Plan returns the plan that carries res out on machine h into t, without an id: what
// saves or compares it seals it, which is a third of the work. The plan has no steps where
// nothing can be done, or where h conforms already. Its error reports a target that cannot
// be planned for.
func Plan(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution, t plan.Target) (*plan.Plan, error) {
	p := describe(m, h, r, res)
	choice := res.Installed(r.ChangeDriver)
	if choice != nil {
		t.Manager = manager(h, r, choice, t)
	}
	p.Target = t
	if t.Rebuild() {
		p.Reasons = append(p.Reasons, resolver.Reason{Rule: "rebuild", Text: "the files of " + t.Dir + " are broken: it is built anew"})
	}
	p.EnvFixes = withRepair(EnvFixes(m, h, r, res), t.Repair)
	b := &builder{m: m, h: h, r: admitted(h, r, t, choice), res: res, t: t, choice: choice, src: readSources(h, t), fixes: p.EnvFixes}
	if err := b.build(); err != nil {
		return nil, err
	}
	p.Steps, p.Keep, p.Driver.Version, p.Partial = b.steps, b.kept, orNull(b.driverVersion), b.partial
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Verify != nil }) {
		p.EnvFixes = append(p.EnvFixes, plan.EnvFix{Variable: "PATH", Action: "prepend", Why: "so that `python` is this environment's",
			Value: strings.TrimSuffix(p.Target.Dir+"/"+p.Interpreter(), "/python")})
	}
	p.Warnings = slices.Concat(saidElsewhere(p.Warnings, p.Keep), b.warnings)
	return p, nil
}

// describe copies what was decided.
func describe(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution) *plan.Plan {
	d := res.Driver
	p := &plan.Plan{
		Decision: res.Decision,
		Driver:   plan.Driver{Action: d.Action, Minimum: orNull(d.Minimum.String()), Branch: orNull(d.Branch), KernelModule: orNull(d.KernelModule)},
		Told:     res.Told,
		Basis: plan.Basis{
			Matrix:  plan.MatrixID{Version: m.Version, SHA256: m.SHA256},
			Facts:   h,
			Request: r,
		},
	}
	if c := res.Choice; c != nil {
		p.Choice = *c
	}
	return p
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// manager picks the tool that installs: the one asked for, else conda for a
// conda build, else uv.
func manager(h machine.Machine, r resolver.Request, c *resolver.Choice, t plan.Target) string {
	switch {
	case t.Manager != "":
		return t.Manager
	case r.Manager != "":
		return r.Manager
	case c.Channel == managers.CondaForge || c.Channel == managers.CondaPyTorch:
		return managers.FastestConda(func(name string) bool { _, ok := tool(h, name); return ok })
	}
	return managers.Usual
}

// A builder collects the steps of one plan.
type builder struct {
	m        *matrix.Matrix
	h        machine.Machine
	r        resolver.Request
	res      *resolver.Resolution
	t        plan.Target
	choice   *resolver.Choice // nil: nothing is installed
	src      sources
	fixes    []plan.EnvFix
	steps    []plan.Step
	warnings []string

	partial       bool       // the rest is planned when the steps are done
	driverVersion string     // exactly the driver that the steps install; "" unknown
	kept          *plan.Keep // nil: no environment is replaced
	want          []string   // names that what stays needs, in any version that fits
	beside        []string   // that stays, and comes from torch's own index

	tool          wheelTool // nil: no wheels are installed
	bundle, tools string    // the folder of a bundle and its file that pins uv; "" none
}

func (b *builder) add(s plan.Step) { b.steps = append(b.steps, s) }

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

func (b *builder) build() error {
	if b.res.Decision == resolver.Split {
		b.split()
		return nil
	}
	changes := b.driverSteps()
	if b.choice == nil {
		return nil
	}
	project, known := managers.Find(b.t.Manager)
	if !known {
		return fmt.Errorf("%q is no manager: managers are %s", b.t.Manager, strings.Join(managers.Names(), ", "))
	}
	less := b.leavesOut()
	if !changes && !less && !project.Project() && !b.t.Rebuild() && (len(b.t.Adds) > 0 || !b.t.Amends()) && holdsProject(b.t) &&
		(!b.t.WithPip || b.h.Has("pip") != nil) && conforms(b.h, b.r, b.choice) {
		if b.t.Repair != nil {
			b.activate()
		}
		edit(b)
		return nil
	}
	if kind := b.vendorKind(); kind != "" && !strings.HasPrefix(kind, "index") {
		b.add(byHand("torch", "install torch from the vendor's wheels", "they lie on a page of links, which is not an index that an installer can be held to",
			fmt.Sprintf("install the wheels of torch and torchvision for Python %s from %s, as the vendor's page says", b.choice.Python, *b.choice.Index)))
		return nil
	}
	b.warnings = append(b.warnings, b.src.warnings...)
	b.kept = b.keep()
	return byManager[b.t.Manager].steps(b)
}

// split names the command for each group of GPUs: one environment cannot serve
// them all, so each is a target of its own.
func (b *builder) split() {
	for i, e := range b.res.Environments {
		if e.Choice == nil {
			continue
		}
		gpus := text.Each(e.GPUs, func(g int) string { return fmt.Sprint(g) })
		cmd := fmt.Sprintf("envfix apply --gpus %s --env %s-%d", strings.Join(gpus, ","), b.t.Dir, i+1)
		b.add(byHand(fmt.Sprintf("environment-%d", i+1), fmt.Sprintf("environment for GPU %s: torch %s, %s", strings.Join(gpus, ","), e.Choice.Torch, e.Choice.Build),
			"no one environment serves every GPU; set CUDA_VISIBLE_DEVICES="+e.CUDAVisible+" in it", "run `"+cmd+"`"))
	}
}

// vendorKind says what the address of a vendor's choice is: an index, a page of
// links, or links to single wheels; "" for PyTorch's own indexes.
func (b *builder) vendorKind() string {
	v, _ := xslices.Find(b.m.VendorIndexes, func(v matrix.VendorIndex) bool { return b.choice.Index != nil && v.URL == *b.choice.Index })
	return v.Kind
}

// tool returns a program of the machine. Where its path was shortened, as facts
// --anonymize does, its name stands for it.
func tool(h machine.Machine, name string) (machine.Tool, bool) {
	t, ok := xslices.Find(h.Tools, func(t machine.Tool) bool { return t.Name == name })
	if ok && !whole(t.Path) {
		t.Path = name
	}
	return t, ok
}

// whole reports whether a path of the facts can be used as it is.
func whole(path string) bool {
	return path != "" && path[0] != '~' && !strings.Contains(path, "…")
}
