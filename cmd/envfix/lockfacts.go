package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// factsTargets makes one target of each class of machine among the files of
// --facts. Machines are of one class where the same wheels run on them: the
// system, the architecture, the libc and the GPUs agree. The oldest driver and the
// oldest libc of a class count.
func factsTargets(c *cli.Context) ([]lock.Target, error) {
	classes := map[string]machine.Machine{}
	for _, path := range c.StringSlice("facts") {
		f, err := os.Open(path)
		if err != nil {
			return nil, badFacts(path, err)
		}
		h, err := machine.Read(f)
		f.Close()
		if err != nil {
			return nil, badFacts(path, err)
		}
		name := className(h)
		classes[name] = older(classes[name], h)
	}
	var out []lock.Target
	for name, h := range classes {
		out = append(out, lock.Target{Name: name, Facts: classFacts(h)})
	}
	return out, nil
}

// className is "linux-x86_64-sm70", "macos-arm64-apple" or "linux-x86_64-cpu".
func className(h machine.Machine) string {
	os := h.Platform.OS
	if h.Platform.Environment == machine.WSL2 {
		os = "wsl2"
	}
	name := os + "-" + h.Platform.Arch
	if h.Platform.Libc != nil && h.Platform.Libc.Kind != "glibc" {
		name += "-" + h.Platform.Libc.Kind
	}
	kind := lock.GPUKind(h)
	switch kind {
	case "none":
		return name + "-cpu"
	case machine.NVIDIA:
		return name + "-sm" + strings.ReplaceAll(strings.Join(gpuNames(h, kind), "-"), ".", "")
	case machine.AMD:
		return name + "-" + strings.Join(gpuNames(h, kind), "-")
	}
	return name + "-" + kind
}

// classFacts describes a machine as a target is described.
func classFacts(h machine.Machine) string {
	facts := map[string]string{"os": h.Platform.OS, "arch": h.Platform.Arch, "gpu": "none"}
	if h.Platform.Environment == machine.WSL2 {
		facts["os"] = "wsl2"
	}
	if l := h.Platform.Libc; l != nil && !l.Version.IsZero() {
		facts["libc"] = l.Kind + "-" + l.Version.String()
	}
	kind := lock.GPUKind(h)
	if names := gpuNames(h, kind); len(names) > 0 {
		facts["gpu"] = strings.Join(names, ",")
	}
	if kind == machine.Apple {
		delete(facts, "gpu") // every described Mac has one
	}
	if h.Driver != nil && kind == machine.NVIDIA {
		facts["driver"] = h.Driver.Version.String()
	}
	for _, p := range h.Pythons {
		if m := pythonText().FindStringSubmatch(p.Version); p.Active && m != nil {
			facts["python"] = m[1] + m[3]
		}
	}
	return joinFacts(facts)
}

// gpuNames returns what tells the GPUs of a kind apart, sorted and once each: the
// compute capability, the gfx target, or the name.
func gpuNames(h machine.Machine, kind string) []string {
	var out []string
	for _, g := range h.GPUs {
		switch {
		case g.Vendor != kind || g.Integrated && kind != machine.NVIDIA:
		case kind == machine.NVIDIA && !g.SM.IsZero():
			out = append(out, g.SM.String())
		case kind == machine.AMD && g.GFX != "":
			out = append(out, g.GFX)
		case kind == machine.Intel:
			out = append(out, ui.Clean(g.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// older returns h with the lesser driver and libc of the two.
func older(a, h machine.Machine) machine.Machine {
	if a.Format == 0 {
		return h
	}
	if a.Driver != nil && h.Driver != nil && a.Driver.Version.Less(h.Driver.Version) {
		h.Driver = a.Driver
	}
	if a.Platform.Libc != nil && h.Platform.Libc != nil && a.Platform.Libc.Version.Less(h.Platform.Libc.Version) {
		h.Platform.Libc = a.Platform.Libc
	}
	return h
}

// targetFlags reads --target and --facts.
func targetFlags(c *cli.Context) ([]lock.Target, error) {
	out, err := factsTargets(c)
	if err != nil {
		return nil, err
	}
	for _, pair := range c.StringSlice("target") {
		name, facts, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, badValue("target", pair, `write --target v100="gpu=V100 driver=580 os=linux python=3.12"`)
		}
		out = append(out, lock.Target{Name: strings.TrimSpace(name), Facts: strings.Trim(facts, `"`)})
	}
	seen := map[string]bool{}
	for _, t := range out {
		if seen[t.Name] {
			return nil, &failure{code: exitUsage, text: fmt.Sprintf("two targets are called %s", ui.Clean(t.Name))}
		}
		seen[t.Name] = true
	}
	return out, nil
}
