package evidence

import (
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// Label is the label of the index that was named: "cu128", "rocm6.4".
func (e Wanted) Label() string { return IndexLabel.Group(e.Did.Index.Text) }

var wantedTorch = lazy.Regexp(`(?i)\btorch\s*==\s*(\d+(?:\.\d+)*(?:\.\*)?)(?:\+(\w[\w.]*))?`)

var IndexLabel = lazy.Regexp(`(?i)download\.pytorch\.org/whl/(?:nightly/|test/)?(cu\d+|rocm[\d.]+|cpu|xpu)\b`)

// Unfound is what an installer says that found no version or no wheel.
func (e Wanted) Unfound() *read.Hit {
	for _, id := range []string{"pip-no-version", "uv-no-platform-wheel", "torch-placeholder"} {
		if h := e.Hit(id); h != nil {
			return h
		}
	}
	if e.Wheelless() {
		return e.Hit("uv-index-platform")
	}
	return nil
}

// Wheelless reports whether the system is one for which nobody builds torch.
func (e Wanted) Wheelless() bool {
	p := e.Machine.Platform
	return p.Distro == "alpine" || p.Libc != nil && p.Libc.Kind == "musl" || e.Clue("platform-without-wheels")
}

// Torch is the torch that was asked for; want is false where none is named.
func (e Wanted) Torch() (v, label string, want bool) {
	for _, h := range e.Hits {
		if m := wantedTorch().FindStringSubmatch(h.At.Text); m != nil {
			return m[1], m[2], true
		}
	}
	return "", "", false
}
