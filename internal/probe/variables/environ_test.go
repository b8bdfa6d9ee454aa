package variables

import (
	"testing"

	"envfix/internal/probe/sysroot"

	"github.com/google/go-cmp/cmp"
)

func TestRedact(t *testing.T) {
	tests := map[string]string{
		"http://ada:geheim@proxy.example:3128":                      "http://***@proxy.example:3128",
		"https://token@mirror.example/simple https://b:c@d.example": "https://***@mirror.example/simple https://***@d.example",
		"https://mirror.example/a@b":                                "https://mirror.example/a@b",
		"/usr/lib\x1b[2J":                                           "/usr/lib",
	}
	for in, want := range tests {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q; want %q", in, got, want)
		}
	}
}

// TestEnviron: the variables that matter are kept, secrets never.
func TestEnviron(t *testing.T) {
	h := sysroot.New(sysroot.Options{OS: "linux", Env: []string{
		"CUDA_VISIBLE_DEVICES=0", "PIP_INDEX_URL=https://ada:geheim@mirror.example/simple", "UV_INDEX_CORP_PASSWORD=geheim", "UV_INDEX_CORP_USERNAME=ada",
		"UV_PUBLISH_TOKEN=geheim", "NVIDIA_API_KEY=geheim", "HF_TOKEN=geheim", "AWS_SECRET_ACCESS_KEY=geheim", "EDITOR=vi", "broken", "=x",
	}})
	want := map[string]string{"CUDA_VISIBLE_DEVICES": "0", "PIP_INDEX_URL": "https://***@mirror.example/simple"}
	if diff := cmp.Diff(want, Environ(h)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
