package tools

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/version"
)

var (
	versionTxt = lazy.Regexp(`CUDA Version (\d+\.\d+(?:\.\d+)?)`)
	cudaDir    = lazy.Regexp(`^cuda-(\d+\.\d+(?:\.\d+)?)$`)
	cudaHeader = lazy.Regexp(`#define CUDA_VERSION (\d{4,5})`)
)

// Toolkits finds the CUDA toolkits on disk: the usual places, CUDA_HOME and the
// one whose nvcc is on PATH. A directory without nvcc or a version is none: CUDA
// images leave /usr/local/cuda with libraries alone.
func Toolkits(h *sysroot.Host, on Programs) []machine.Toolkit {
	var dirs []string
	add := func(dir string) {
		if dir != "" && h.Abs(dir) {
			dirs = append(dirs, path.Clean(dir))
		}
	}
	for _, program := range on["nvcc"] {
		add(path.Dir(path.Dir(program)))
	}
	add(h.Env["CUDA_HOME"])
	add(h.Env["CUDA_PATH"])
	add("/usr/local/cuda")
	for _, base := range []string{"/usr/local", "/opt", "/opt/nvidia/hpc_sdk/Linux_x86_64/cuda"} {
		for _, name := range h.Names(base) {
			if cudaDir().MatchString(name) {
				add(base + "/" + name)
			}
		}
	}
	add("/opt/cuda") // Arch
	add("/usr/lib/nvidia-cuda-toolkit")
	var out []machine.Toolkit
	var seen []string
	for _, dir := range dirs {
		real := h.Resolved(dir)
		if slices.Contains(seen, real) {
			continue
		}
		seen = append(seen, real)
		if v := toolkitVersion(h, dir, real); !v.IsZero() {
			out = append(out, machine.Toolkit{Version: v, Path: dir})
		}
	}
	return out
}

// toolkitVersion reads the version that a toolkit states (version.json since
// 11.1, version.txt before), its header, or its directory's name.
func toolkitVersion(h *sysroot.Host, dir, real string) version.Dotted {
	var stated struct{ CUDA struct{ Version string } }
	if json.Unmarshal(h.Bytes(dir+"/version.json", 1<<16), &stated) == nil {
		if v := cudaVersion(stated.CUDA.Version); !v.IsZero() {
			return v
		}
	}
	if stated := versionTxt.Group(h.Text(dir + "/version.txt")); stated != "" {
		return cudaVersion(stated)
	}
	for _, include := range []string{"/include/cuda.h", "/targets/x86_64-linux/include/cuda.h", "/targets/sbsa-linux/include/cuda.h"} {
		if m := cudaHeader().FindSubmatch(h.Bytes(dir+include, sysroot.MaxFile)); m != nil {
			n, _ := strconv.Atoi(string(m[1])) // 12040 is 12.4
			return cudaVersion(fmt.Sprintf("%d.%d", n/1000, n%1000/10))
		}
	}
	return cudaVersion(say.If(h.Exists(dir+"/bin/nvcc"), cudaDir.Group(path.Base(real))))
}

// cudaVersion drops what is no CUDA version.
func cudaVersion(s string) version.Dotted {
	if v := version.ReadDotted(s); v.Major() > 0 && v.Major() < 100 {
		return v
	}
	return version.Dotted{}
}
