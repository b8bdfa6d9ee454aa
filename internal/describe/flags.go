package describe

import (
	"fmt"
	"strings"

	"envfix/internal/managers"
	"envfix/resolver"
)

// A Flag is a word of the command line and the field of a T that it fills. Commands
// declare, read and print their flags from such a table, so that none is forgotten.
type Flag[T any] struct {
	Name, Usage string
	Field       func(*T) any // a *string, a *bool or a *[]string
}

// MachineFlags describe a machine.
func MachineFlags() []Flag[Machine] {
	return []Flag[Machine]{
		{"gpu", "this `GPU`: a name (\"RTX 5090\"), 9.0, sm_90, gfx1100, or none; \"2x A100, T4\" is three", func(d *Machine) any { return &d.GPUs }},
		{"driver", "this `VERSION` of the NVIDIA driver, or none", func(d *Machine) any { return &d.Driver }},
		{"os", "this `SYSTEM`: linux, windows, macos or wsl2", func(d *Machine) any { return &d.OS }},
		{"arch", "this `ARCH`: x86_64, aarch64 or arm64", func(d *Machine) any { return &d.Arch }},
		{"libc", "this C `LIBRARY`: glibc-2.28 or musl-1.2", func(d *Machine) any { return &d.Libc }},
	}
}

// RequestFlags say what is wanted.
func RequestFlags() []Flag[Request] {
	return []Flag[Request]{
		{"python", "Python `VERSION`, such as 3.12 or 3.14t", func(w *Request) any { return &w.Python }},
		{"cuda", "CUDA `VERSION`: 12.6 is that one, 12 any 12.x", func(w *Request) any { return &w.CUDA }},
		{"build", "`BUILD` of torch: cu126, cpu, rocm7.2, xpu or mps", func(w *Request) any { return &w.Build }},
		{"cpu", "a CPU build is what is wanted", func(w *Request) any { return &w.CPU }},
		{"manager", "install with `TOOL`: " + strings.Join(managers.Names(), ", "), func(w *Request) any { return &w.Manager }},
		{"change-driver", "the plan may install or change the driver", func(w *Request) any { return &w.ChangeDriver }},
		{"jit", "the job compiles kernels at run time (torch.compile, triton)", func(w *Request) any { return &w.JIT }},
		{"as-named", "the package `NAME` is meant as it is written, though it is like a known one", func(w *Request) any { return &w.AsNamed }},
		{"allow-url", "the package `NAME` may come from its project's address, by hash, where the index has no wheel",
			func(w *Request) any { return &w.AllowURL }},
		{"relax", "any version of the package `NAME`, whatever the project's files pin; torch's companions follow it",
			func(w *Request) any { return &w.Relax }},
		{"only-index", "take torch only from `INDEX`: default, pytorch or a URL", func(w *Request) any { return &w.OnlyIndex }},
		{"channel", "take torch from PyTorch's `CHANNEL` nightly or test, which nobody has proven; never taken unasked",
			func(w *Request) any { return &w.Channel }},
		{"gpus", "use only these GPUs: a `LIST` of indexes such as 0,2", func(w *Request) any { return &w.GPUs }},
	}
}

// Args are the arguments that say the same as v on the command line.
func Args[T any](flags []Flag[T], v T) (out []string) {
	for _, f := range flags {
		switch field := f.Field(&v).(type) {
		case *bool:
			if *field {
				out = append(out, "--"+f.Name)
			}
		case *string:
			if *field != "" {
				out = append(out, "--"+f.Name, *field)
			}
		case *[]string:
			for _, value := range *field {
				out = append(out, "--"+f.Name, value)
			}
		}
	}
	return out
}

// Args are the flags that say the same on the command line.
func (d Machine) Args() []string { return Args(MachineFlags(), d) }

// Args are the flags that say the same on the command line.
func (w Request) Args() []string { return Args(RequestFlags(), w) }

// Words are the words that [Request.Parse] reads as r.
func Words(r resolver.Request) Request {
	return Request{Python: r.Python, CUDA: r.CUDA, Build: r.Build, Manager: r.Manager, OnlyIndex: r.OnlyIndex, Channel: r.Channel,
		GPUs: strings.Trim(strings.ReplaceAll(fmt.Sprint(r.GPUs), " ", ","), "[]"), AllowURL: r.AllowURL, AsNamed: r.AsNamed, Relax: r.Relax,
		CPU: r.CPU, JIT: r.JIT, ChangeDriver: r.ChangeDriver}
}
