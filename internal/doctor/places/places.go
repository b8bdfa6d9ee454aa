package places

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/version"
)

// oldLibc: a wheel for a newer C library than the system has.
func oldLibc(e *evidence.Evidence, out *evidence.Findings) {
	if os := e.Machine.Platform.OS; (os == "macos" || os == "windows") && !e.From.OS.IsZero() {
		out.Deny("PY024") // they have no glibc
		return
	}
	libc, said := libc(e)
	if libc.IsZero() {
		return
	}
	if h := e.Hit("wheel-tag"); h != nil {
		if wants := manylinux(h.At.Text); libc.Less(wants) {
			out.Find("PY024", evidence.Likely, said, h.At).Says("this wheel needs glibc %s; here is %s", wants, libc)
			return
		}
	}
	needs := e.Limit("glibc")
	v, _, want := e.Wanted().Torch()
	if !libc.Less(evidence.Dotted(needs.Value)) || want && needs.Before(evidence.PythonVersion(v)) || want &&
		e.Python().Out(v, e.Python().Active()) {
		return
	}
	s, ok := e.Has("wheel-tag", "pip-no-version", "uv-no-platform-wheel")
	if !ok || e.Machine.Platform.Libc == nil && !newWheels().MatchString(s.Text) {
		return
	}
	out.Find("PY024", evidence.Likely, said, s).
		Says("wheels of torch %s and newer, and of much that is built beside it, need glibc %s; here is %s",
			needs.Torch, needs.Value, libc)
}

// newWheels are of packages whose newer wheels want a C library that old systems
// do not have.
var newWheels = lazy.Regexp(`(?i)\b(torch\w*|onnxruntime\S*|vllm|faiss\S*|tensorflow\S*|xformers|triton|` +
	`bitsandbytes|ctranslate2|jax\w*|cupy\S*|deepspeed|sglang|nvidia-\S+)\b`)

// libc is the C library of the machine: what was read, else what its distribution
// is known for. Zero where it is neither, or another kind.
func libc(e *evidence.Evidence) (version.Dotted, evidence.Quote) {
	p := e.Machine.Platform
	if l := p.Libc; l != nil {
		if l.Kind != "glibc" || p.OS == "windows" || p.OS == "macos" {
			return version.Dotted{}, evidence.Quote{}
		}
		return l.Version, e.From.Libc
	}
	for _, known := range e.Limit("distro-glibc").Values {
		if f := strings.Fields(known); len(f) == 3 && f[0] == p.Distro && (f[1] == p.DistroVersion ||
			strings.HasPrefix(p.DistroVersion, f[1]+".")) {
			return evidence.Dotted(f[2]), e.From.OS
		}
	}
	return version.Dotted{}, evidence.Quote{}
}

var manylinuxTag = lazy.Regexp(`manylinux_(\d+)_(\d+)|manylinux(2014|2010|1)\b`)

// manylinux is the oldest C library that a wheel runs with, by its name (PEP 600);
// zero where the name does not say it.
func manylinux(name string) version.Dotted {
	oldest := version.Dotted{}
	for _, m := range manylinuxTag().FindAllStringSubmatch(name, -1) {
		v := map[string]string{"2014": "2.17", "2010": "2.12", "1": "2.5", "": m[1] + "." + m[2]}[m[3]]
		if d := evidence.Dotted(v); oldest.IsZero() || d.Less(oldest) {
			oldest = d
		}
	}
	return oldest
}
