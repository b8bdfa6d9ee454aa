package installers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// EnvFixes returns the changes of environment variables that res needs on h:
// what shadows the wheel's own libraries, what hides GPUs, and what a partial
// answer sets.
func EnvFixes(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution) []plan.EnvFix {
	c := res.Installed(r.ChangeDriver)
	var fixes []plan.EnvFix
	if h.Platform.OS == "linux" {
		fixes = append(fixes, libraryPath(m, h, c)...)
		fixes = append(fixes, preload(h)...)
	}
	fixes = append(fixes, pythonVariables(h)...)
	if len(res.VisibleGPUs) > 0 && res.CUDAVisible != "" {
		fixes = append(fixes, plan.EnvFix{Variable: "CUDA_VISIBLE_DEVICES", Action: "set", Value: res.CUDAVisible, Why: "the other GPUs have no code in this build"})
		if strings.Trim(res.CUDAVisible, "0123456789,") == "" {
			fixes = append(fixes, plan.EnvFix{Variable: "CUDA_DEVICE_ORDER", Action: "set", Value: "PCI_BUS_ID", Why: "the indexes count GPUs in the order of the bus"})
		}
		return fixes
	}
	return append(fixes, hidden(h)...)
}

// libraryPath examines each entry of LD_LIBRARY_PATH. The loader searches it
// before the RUNPATH of torch's libraries (ld.so(8)), so a CUDA library there
// replaces the one that torch was built with.
func libraryPath(m *matrix.Matrix, h machine.Machine, c *resolver.Choice) []plan.EnvFix {
	var fixes []plan.EnvFix
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(h.Env["LD_LIBRARY_PATH"], ":") {
		if entry == "" || seen[entry] {
			continue
		}
		seen[entry] = true
		f := plan.EnvFix{Variable: "LD_LIBRARY_PATH", Action: "remove", Value: entry}
		dir, _ := xslices.Find(h.LibraryDirs, func(d machine.LibraryDir) bool { return d.Path == entry })
		f.From = dir.From
		lower := strings.ToLower(entry)
		switch {
		case strings.HasSuffix(strings.TrimSuffix(lower, "/"), "/stubs"):
			f.Why = "its libcuda is a stub for linking; nothing can run with it"
		case c == nil || c.CUDA == "" || c.Channel != "pip":
			continue // conda's Python carries an RPATH, which comes before the variable
		case strings.HasPrefix(entry, "/usr/lib/wsl"):
			continue
		case dir.Files != nil:
			file, soname := shadow(dir.Files, sonames(m, h, c))
			if file == "" {
				continue
			}
			f.Why = fmt.Sprintf("its %s comes before torch's own %s", file, soname)
		case strings.Contains(lower, "/compat"):
			f.Why, f.Suspected = "a cuda-compat library there would replace the driver's own libcuda", true
		case namesCUDA(lower):
			f.Why, f.Suspected = "CUDA libraries there would come before torch's own", true
		default:
			continue
		}
		fixes = append(fixes, f)
	}
	return fixes
}

// namesCUDA reports whether a path looks like it holds NVIDIA's libraries.
func namesCUDA(lower string) bool {
	return slices.ContainsFunc([]string{"cuda", "cudnn", "nccl", "cublas", "nvidia", "nvhpc", "tensorrt"},
		func(word string) bool { return strings.Contains(lower, word) })
}

// sonames returns the libraries that the build brings, as the loader asks for
// them: name without "lib" and the major version, "" where it is unknown.
func sonames(m *matrix.Matrix, h machine.Machine, c *resolver.Choice) map[string]string {
	major, _, _ := strings.Cut(c.CUDA, ".")
	cudnn, _, _ := strings.Cut(c.CuDNN, ".")
	known := map[string]string{
		"cudart": major, "cublas": major, "cublasLt": major, "nvrtc": major, "nvJitLink": major,
		"cufft": "", "curand": "", "cusolver": "", "cusparse": "", "cusparseLt": "", "nccl": "2",
		"cudnn": cudnn, "cudnn_ops": cudnn, "cudnn_cnn": cudnn, "cudnn_adv": cudnn, "cudnn_graph": cudnn,
		"cudnn_ops_infer": cudnn, "cudnn_cnn_infer": cudnn, "cudnn_heuristic": cudnn, "cudnn_engines_precompiled": cudnn,
	}
	for name, v := range pins(m, h, c) {
		if _, ok := known[name]; ok {
			known[name], _, _ = strings.Cut(v, ".")
		}
	}
	return known
}

// pins returns the library versions of the build's row.
func pins(m *matrix.Matrix, h machine.Machine, c *resolver.Choice) map[string]string {
	if b, ok := m.BuildOf(c.Torch, c.Build, h.Platform.OS, h.Platform.Arch); ok {
		return b.Pins
	}
	return nil
}

// shadow returns the first file that the loader would take in place of one of
// the build's libraries.
func shadow(files []string, known map[string]string) (file, soname string) {
	for _, f := range files {
		name, tail, ok := strings.Cut(f, ".so")
		name, isLib := strings.CutPrefix(name, "lib")
		want, brought := known[name]
		if !ok || !isLib || !brought {
			continue
		}
		have, _, _ := strings.Cut(strings.TrimPrefix(tail, "."), ".")
		if have != "" && (want == "" || have == want) {
			return f, "lib" + name + ".so." + have
		}
	}
	return "", ""
}

// preload names CUDA libraries that are forced into every process.
func preload(h machine.Machine) []plan.EnvFix {
	var fixes []plan.EnvFix
	for _, entry := range strings.FieldsFunc(h.Env["LD_PRELOAD"], func(r rune) bool { return r == ':' || r == ' ' }) {
		base := entry[strings.LastIndex(entry, "/")+1:]
		if namesCUDA(strings.ToLower(base)) || strings.HasPrefix(base, "libtorch") || strings.HasPrefix(base, "libc10") {
			fixes = append(fixes, plan.EnvFix{Variable: "LD_PRELOAD", Action: "remove", Value: entry, Why: "it replaces torch's own library in every process"})
		}
	}
	return fixes
}

// pythonVariables names variables that put other packages before the
// environment's.
func pythonVariables(h machine.Machine) []plan.EnvFix {
	var fixes []plan.EnvFix
	if v := h.Env["PYTHONHOME"]; v != "" {
		fixes = append(fixes, plan.EnvFix{Variable: "PYTHONHOME", Action: "remove", Value: v, Why: "the environment's Python would take another standard library"})
	}
	sep := say.Either(h.Platform.OS == "windows", ";", ":")
	for entry := range strings.SplitSeq(h.Env["PYTHONPATH"], sep) {
		if strings.Contains(entry, "site-packages") || strings.Contains(entry, "dist-packages") {
			fixes = append(fixes, plan.EnvFix{Variable: "PYTHONPATH", Action: "remove", Value: entry, Why: "its packages would come before the environment's"})
		}
	}
	return fixes
}

// hidden names a CUDA_VISIBLE_DEVICES that hides GPUs which are there. CUDA stops
// at the first entry that is not valid (CUDA programming guide, environment
// variables).
func hidden(h machine.Machine) []plan.EnvFix {
	v, set := h.Env["CUDA_VISIBLE_DEVICES"]
	n := len(xslices.Filter(h.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && g.Visible }))
	if !set || n == 0 {
		return nil
	}
	fix := plan.EnvFix{Variable: "CUDA_VISIBLE_DEVICES", Action: "remove", Value: v}
	for i, entry := range strings.Split(v, ",") {
		entry = strings.TrimSpace(entry)
		index, err := strconv.Atoi(entry)
		switch {
		case err == nil && index >= 0 && index < n, strings.HasPrefix(entry, "GPU-"), strings.HasPrefix(entry, "MIG-"):
			continue
		case i == 0:
			fix.Why = fmt.Sprintf("%q is no GPU here, so it hides all %d", v, n)
		default:
			fix.Why = fmt.Sprintf("%q is no GPU here, so it and what follows are hidden", entry)
		}
		return []plan.EnvFix{fix}
	}
	return nil
}

// Without returns the value of a list variable without the entries that fixes
// remove.
func Without(value, sep string, variable string, fixes []plan.EnvFix) string {
	keep := slices.DeleteFunc(strings.Split(value, sep), func(entry string) bool {
		return entry == "" || slices.ContainsFunc(fixes, func(f plan.EnvFix) bool {
			return f.Variable == variable && f.Action == "remove" && f.Value == entry
		})
	})
	return strings.Join(keep, sep)
}
