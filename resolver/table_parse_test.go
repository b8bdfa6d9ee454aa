package resolver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
)

// parseTable splits a file into cases; a paragraph without a want is a comment.
func parseTable(t testing.TB, file, text string) []tableCase {
	var out []tableCase
	line := 1
	for para := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		c := tableCase{file: file, line: line, h: machine.Machine{Format: 1, Platform: machine.Platform{
			OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.39")}}}}
		for i, l := range strings.Split(para, "\n") {
			if strings.HasPrefix(l, "> ") {
				c.whole = true
				c.lines = append(c.lines, l[2:])
				continue
			}
			c.head = append(c.head, l)
			if l == ">" || strings.HasPrefix(l, "#") || l == "" {
				if l == ">" { // asks for the answer to be recorded
					c.whole, c.head = true, c.head[:len(c.head)-1]
				}
				continue
			}
			key, value, ok := strings.Cut(l, ": ")
			if err := c.set(key, value); !ok || err != nil {
				t.Fatalf("%s:%d: %q: %v", file, line+i, l, err)
			}
		}
		line += strings.Count(para, "\n") + 2
		if c.want != "" && len(c.h.Pythons) == 0 && c.r.Python == "" {
			c.h.Pythons = []machine.Python{{Version: "3.12", Path: "/usr/bin/python3", Active: true}}
		}
		out = append(out, c)
	}
	return out
}

func (c *tableCase) set(key, value string) error {
	switch key {
	case "case":
		c.title = value
	case "want":
		c.want = value
	case "machine":
		for _, w := range strings.Fields(value) {
			if err := c.setMachine(w); err != nil {
				return err
			}
		}
	case "gpu":
		return c.setGPU(value)
	case "request":
		return c.setRequest(strings.Fields(value))
	case "installed":
		for _, w := range strings.Fields(value) {
			name, v, _ := strings.Cut(w, "==")
			c.h.Installed = append(c.h.Installed, machine.Package{Name: name, Version: v})
		}
	default:
		return fmt.Errorf("unknown key")
	}
	return nil
}

func (c *tableCase) setMachine(w string) error {
	p := &c.h.Platform
	driver := func() *machine.Driver {
		if c.h.Driver == nil {
			c.h.Driver = &machine.Driver{Evidence: machine.FromNVML}
		}
		return c.h.Driver
	}
	key, value, _ := strings.Cut(w, "-")
	switch {
	case w == "linux":
	case w == "windows" || w == "macos":
		p.OS, p.Libc = w, nil
	case w == "x86_64" || w == "aarch64" || w == "arm64" || w == "ppc64le":
		p.Arch = w
	case slices.Contains([]string{machine.WSL2, machine.Container, machine.ContainerBuild, machine.Jetson, machine.HPCLogin}, w):
		p.Environment = w
	case key == "macos":
		p.OS, p.Libc, p.DistroVersion = key, nil, value
	case key == "glibc" || key == "musl":
		p.Libc = &machine.Libc{Kind: key, Version: version.MustDotted(value)}
	case key == "driver":
		driver().Version = version.MustDotted(value)
	case key == "module":
		driver().KernelModule = value
	case key == "loaded":
		driver().LoadedVersion = version.MustDotted(value)
	case w == "conda":
		c.h.Env = map[string]string{"CONDA_PREFIX": "/opt/conda/envs/work"}
	case w == "notloaded":
		driver().NotLoaded = true
	case key == "l4t":
		p.L4T = value
	case key == "python", key == "found":
		v, free := strings.CutSuffix(value, "t")
		c.h.Pythons = append(c.h.Pythons, machine.Python{Version: v, Path: "/usr/bin/python" + value, Active: key == "python", FreeThreaded: free})
	default:
		return fmt.Errorf("unknown word %q", w)
	}
	return nil
}

func (c *tableCase) setGPU(value string) error {
	f := strings.Split(value, "|")
	g := machine.GPU{Index: len(c.h.GPUs), Vendor: machine.NVIDIA, Name: strings.TrimSpace(f[0]), Visible: true, Evidence: machine.FromNVML}
	g.UUID = fmt.Sprintf("GPU-%d", g.Index)
	for _, w := range strings.Fields(strings.Join(f[1:], " ")) {
		sm, err := machine.ParseSM(w)
		switch {
		case err == nil && strings.Contains(w, "."):
			g.SM = sm
		case strings.HasPrefix(w, "gfx"):
			g.GFX = w
		case w == "invisible":
			g.Visible, g.UUID, g.Evidence = false, "", machine.FromPCI
		case w == "integrated":
			g.Integrated = true
		case w == "nouveau" || w == "vfio-pci":
			g.KernelDriver = w
		case w == "flag":
			g.Evidence, g.UUID = machine.FromFlag, ""
		case strings.HasPrefix(w, "mig="):
			g.MIG = w[4:]
		case strings.HasPrefix(w, "pci="):
			g.PCIID = w[4:]
		case w == machine.AMD || w == machine.Intel || w == machine.Apple:
			g.Vendor, g.UUID = w, ""
		default:
			return fmt.Errorf("unknown word %q", w)
		}
	}
	c.h.GPUs = append(c.h.GPUs, g)
	return nil
}

func (c *tableCase) setRequest(words []string) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := func() string {
			if i++; i < len(words) {
				return words[i]
			}
			return ""
		}
		switch w {
		case "--cuda":
			c.r.CUDA = next()
		case "--build":
			c.r.Build = next()
		case "--python":
			c.r.Python = next()
		case "--project-python":
			c.r.ProjectPython = next()
		case "--manager":
			c.r.Manager = next()
		case "--allow-url":
			c.r.AllowURL = append(c.r.AllowURL, next())
		case "--channel":
			c.r.Channel = next()
		case "--only-index":
			c.r.OnlyIndex = next()
		case "--jit":
			c.r.JIT = true
		case "--cpu":
			c.r.CPU = true
		case "--gpus":
			for n := range strings.SplitSeq(next(), ",") {
				var i int
				if _, err := fmt.Sscan(n, &i); err != nil {
					return err
				}
				c.r.GPUs = append(c.r.GPUs, i)
			}
		default:
			q, err := pep508.Parse(w, "")
			if err != nil {
				return err
			}
			c.r.Requirements = append(c.r.Requirements, q)
		}
	}
	return nil
}
