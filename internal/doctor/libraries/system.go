package libraries

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/say"
)

var notOpened = lazy.Regexp(`\b(lib[\w+.-]+?)(?:-\d+\.\d+)?\.(?:so|dylib)[.\d]*: cannot open shared object`)

// systemLibrary: a library that no package of torch brings; the system's own package
// does, and limits.yaml says which.
func systemLibrary(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Hits {
		if m := notOpened().FindStringSubmatch(h.At.Text); m != nil && packaged(e, out, m[1], h.At) {
			return
		}
	}
}

// packaged finds the package of a library, and reports whether it knows one.
func packaged(e *evidence.Evidence, out *evidence.Findings, library string, at evidence.Quote) bool {
	if m := pythonLibrary().FindStringSubmatch(library); m != nil {
		out.DenyAt(at, "PY010", "LD011")
		out.Find("LD018", evidence.Proven, at).
			Says("%s is Python's own library, and the Python %s that is meant is not there or lies elsewhere", library, m[1]).
			Do("conda: `export LD_LIBRARY_PATH=$CONDA_PREFIX/lib` in its environment; else a Python of its own: `uv venv --python "+m[1]+"`",
				fmt.Sprintf("the system's: `apt install libpython%s` on Debian and Ubuntu%s", m[1], byFile(at.Text)))
		return true
	}
	if ours().MatchString(library) {
		return false
	}
	for _, row := range e.Limit("system-libraries").Values {
		f := strings.Fields(row) // library, Debian's package, Fedora's, whose it is
		if len(f) != 4 || f[0] != library {
			continue
		}
		ways := []string{fmt.Sprintf("Debian, Ubuntu: `apt install %s` (with sudo, where you are not root)", f[1]),
			fmt.Sprintf("Fedora, RHEL: `dnf install %s`", f[2]) + byFile(at.Text)}
		if f[3] == "opencv" {
			ways = append(ways, "or without a display: `pip install opencv-python-headless` in place of opencv-python")
		}
		out.DenyAt(at, "PY010", "LD011", "PY023")
		out.Find("LD018", evidence.Proven, at).
			Says("%s belongs to the system, and %s needs it; it has nothing to do with NVIDIA or torch", library, f[3]).
			Do(ways...)
		return true
	}
	out.DenyAt(at, "PY010", "LD011")
	out.Find("LD018", evidence.Likely, at).Says("%s belongs to the system or to another program; it is neither NVIDIA's nor torch's",
		library)
	return true
}

var pythonLibrary = lazy.Regexp(`^libpython(3\.\d{1,2})$`)

// byFile is how dnf finds the package of a library by what the library is called: an RPM
// names its libraries under what it provides. Source: rpm.org, "Automatic dependency
// generation".
func byFile(message string) string {
	return say.With(", or by the file: `dnf install '", soname.Group(message), "()(64bit)'`")
}

var soname = lazy.Regexp(`\b(lib[\w+.-]+?\.so\.[.\d]*\d)\b`)

// ours are the libraries that drivers, CUDA, ROCm and torch bring.
var ours = lazy.Regexp(`(?i)^lib(?:cu[a-z]+|nv\w+|nccl|npp\w+|nvidia.*|torch\w*|c10\w*|shm|caffe2\w*|amd\w+|` +
	`roc\w+|hip\w+|hsa.*|MIOpen|rccl|bitsandbytes\w*|mkl\w*|iomp5|stdc\+\+|tensorflow\w*|onnx\w*|python.*|ze_\w+|sycl|ccl|OpenCL|` +
	`cudnn\w*|cudart.*)$`)
