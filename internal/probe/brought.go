package probe

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
)

func isELF(file string) bool {
	base := path.Base(file)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// brought are the libraries that torch and the CUDA packages bring, as an
// extension asks for them. What a wheel carries itself has a name of its own
// (auditwheel adds a hash).
var brought = lazy.Regexp(
	`^lib(torch|torch_cpu|torch_cuda|torch_python|torch_hip|c10|c10_cuda|c10_hip|cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nccl)\.so(\.\d+)*$`,
)

// addLinks adds what a library asks for.
func addLinks(h *sysroot.Host, list []string, file string) []string {
	o := platform.Loader(h).Read(file)
	if o == nil {
		return list
	}
	for _, name := range o.Needed {
		if brought().MatchString(name) && !slices.Contains(list, name) && !h.Exists(path.Dir(file)+"/"+name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
