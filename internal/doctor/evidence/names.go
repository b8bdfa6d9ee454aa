package evidence

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/version"
)

// ifSo leads to what to do where the hypothesis before it holds.
const IfSo = "if so: "

const AskTorch = "`python -c \"import torch; print(torch.__version__, torch.version.cuda)\"`"

// named lists what is there, cut to a few.
func Listed(names []string) string {
	names = slices.Compact(names)
	if len(names) > 4 {
		names = append(names[:4:4], "…")
	}
	return strings.Join(names, ", ")
}

// Fact is evidence that was not read in a text.
func Fact(format string, args ...any) read.Evidence {
	return read.Evidence{Text: fmt.Sprintf(format, args...)}
}

// NVIDIAPackage splits nvidia-cudnn-cu12 into cudnn and 12.
func NVIDIAPackage(name string) (library, major string, ok bool) {
	rest, ok := strings.CutPrefix(name, "nvidia-")
	i := strings.LastIndex(rest, "-cu1")
	if !ok || i < 0 {
		return "", "", false
	}
	return rest[:i], rest[i+3:], true
}

// Newer reports whether version a is b's or a later one of the same major; what is
// not known is not.
func Newer(a, b string) bool {
	x, err := version.ParseDotted(a)
	y, err2 := version.ParseDotted(b)
	return err == nil && err2 == nil && x.Major() == y.Major() && !x.Less(y)
}

// SameMinor reports whether the first two numbers of two versions are the same.
func SameMinor(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return len(x) > 1 && len(y) > 1 && x[0] == y[0] && x[1] == y[1]
}

// NewNumPy reports whether a NumPy is one that this torch was not built for.
func (e *Evidence) NewNumPy(v string) bool {
	l := e.Limit("numpy-2")
	return e.Torch.Version != "" && PythonVersion(v).Compare(PythonVersion(l.Value)) >= 0 && l.Before(PythonVersion(e.Torch.Version))
}
