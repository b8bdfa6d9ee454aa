package read

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
)

// FromMachine makes a case of the facts of a machine. What lies in files and is
// no fact of [machine.Machine] is added by the caller: Libraries, Packages.
func FromMachine(h machine.Machine) *Case {
	c := &Case{Machine: h, GPUs: GPUs{Listed: true}, Read: 1}
	for _, p := range h.Installed {
		said := Evidence{Text: p.Name + " " + p.Version}
		said.Text += say.If(strings.Contains(p.Path, "/.local/lib/"), " in "+p.Path) // of the user's own, which no environment has
		c.Packages = append(c.Packages, Package{Name: p.Name, Version: p.Version, Tool: "pip", Path: p.Path, At: said})
		if p.Name == "torch" && c.Torch.Version == "" {
			public, label := version.SplitLocal(p.Version)
			c.Torch = Torch{Version: public, VersionAt: said, Rank: ByTorch}
			c.Torch.setLabel(label)
			if p.CUDA != nil {
				if *p.CUDA == "" {
					c.Torch.NoCUDA, c.Torch.CUDAAt = true, said
				} else if v, err := version.ParseDotted(*p.CUDA); err == nil {
					c.Torch.CUDA, c.Torch.NoCUDA, c.Torch.CUDAAt = v, false, said
				}
			}
		}
	}
	for _, g := range h.GPUs {
		mark(&c.From.GPU, Evidence{Text: "GPU " + g.Name})
	}
	if d := h.Driver; d != nil {
		mark(&c.From.Driver, Evidence{Text: "driver " + d.Version.String()})
		if !d.LoadedVersion.IsZero() {
			mark(&c.From.Module, Evidence{Text: "loaded kernel module " + d.LoadedVersion.String()})
		}
	}
	for k, v := range h.Env {
		c.sayEnv(k, Evidence{Text: k + "=" + v})
	}
	if c.Torch.Label == "" && !c.Torch.CUDA.IsZero() {
		c.Torch.Label = "cu" + strings.ReplaceAll(c.Torch.CUDA.MajorMinor(), ".", "")
	}
	return c
}
