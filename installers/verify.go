package installers

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// verify is what the finished environment must prove on h.
func verify(h machine.Machine, r resolver.Request, res *resolver.Resolution, c *resolver.Choice) *plan.Verify {
	v := &plan.Verify{Torch: cmp.Or(c.Packages["torch"], c.Torch), CUDA: c.CUDA, CuDNN: c.CuDNN, Arches: c.Arches, Imports: imports(c)}
	for name := range c.Packages {
		module, known := frameworkModules[resolver.PlainName(name)]
		if !known {
			continue
		}
		v.Imports = append(v.Imports, module)
		if _, asked := c.Ask[name]; asked && !r.Described {
			v.OnGPU = append(v.OnGPU, module)
		}
	}
	slices.Sort(v.OnGPU)
	slices.Sort(v.Imports[len(imports(c)):])
	if c.Channel != "pip" && c.Channel != "" {
		// conda builds carry no label, and their libraries are packages of their own.
		v.Torch, v.CuDNN = c.Torch, ""
	}
	if c.Listed != nil { // what it holds is inferred: that it computes is the proof
		v.CuDNN, v.Arches = "", nil
	}
	if !r.Described {
		v.GPUs = toCompute(h, r, res, c)
	}
	if len(res.VisibleGPUs) > 0 {
		v.CUDAVisible = res.CUDAVisible
	}
	return v
}

// frameworkModules are the frameworks that the proof computes with, and what is imported
// of them.
var frameworkModules = map[string]string{"tensorflow": "tensorflow", "jax": "jax", "onnxruntime": "onnxruntime", "cupy": "cupy"}

// withoutTorch reports whether a choice is of other frameworks alone.
func withoutTorch(c *resolver.Choice) bool {
	_, torch := c.Packages["torch"]
	return c.Torch == "" && !torch
}

func imports(c *resolver.Choice) []string {
	if withoutTorch(c) {
		return nil
	}
	return xslices.Filter(family, func(name string) bool { _, ok := c.Packages[name]; return ok || name == "torch" })
}

// toCompute is the number of GPUs that the build must compute on.
func toCompute(h machine.Machine, r resolver.Request, res *resolver.Resolution, c *resolver.Choice) int {
	switch {
	case withoutTorch(c) || c.Build == "cpu" || res.Decision == resolver.InstallCPU:
		return 0
	case len(res.VisibleGPUs) > 0:
		return len(res.VisibleGPUs)
	case len(r.GPUs) > 0:
		return len(r.GPUs)
	}
	mended := c == res.Then
	return len(xslices.Filter(h.GPUs, func(g machine.GPU) bool { // the proof counts torch.cuda's devices: NVIDIA's and AMD's
		return (g.Visible || mended) && g.Vendor == vendorOf(c.Build) && g.Vendor != machine.Intel && g.Vendor != machine.Apple
	}))
}

func vendorOf(build string) string {
	switch {
	case strings.HasPrefix(build, "rocm"):
		return machine.AMD
	case build == "xpu":
		return machine.Intel
	case build == "mps":
		return machine.Apple
	}
	return machine.NVIDIA
}

func proofTitle(v *plan.Verify) string {
	if !slices.Contains(v.Imports, "torch") {
		return "prove that " + cmp.Or(strings.Join(v.Imports, " and "), "the environment") + " works"
	}
	return "prove that torch works"
}

func proofWords(r resolver.Request, v *plan.Verify) string {
	switch {
	case r.Described:
		return "imports, what the build was made for, and a product on every GPU that is there (the machine of this plan was described)"
	case v.GPUs == 0:
		return "imports, and what the build was made for; there is no GPU to compute on"
	}
	return "imports, what the build was made for, and a product on every GPU compared with the CPU's"
}
