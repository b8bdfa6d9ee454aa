package doctor

import (
	"strings"
	"testing"
)

// A distribution that is named is not told what another one's package manager does.
func TestOfDistribution(t *testing.T) {
	const failed = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
	for _, c := range []struct{ text, want string }{
		{"OS: CachyOS Linux x86_64\n" + failed, "pacman -Syu"},
		{"Rocky Linux 9.4\n" + failed, "dnf install kernel-devel-$(uname -r)"},
		{"Fedora 41\n" + failed, "akmods"},
		{"Rocky Linux 9.4\n$ nvidia-smi\nbash: nvidia-smi: command not found\n", "--change-driver"},
	} {
		r, _ := examine(t, c.text)
		got := strings.Join(r.Findings[0].Fix, "\n")
		if !strings.Contains(got, c.want) || strings.Contains(got, "apt ") || strings.Contains(got, "Ubuntu") {
			t.Errorf("%s\ntold: %s\nwant %q, and nothing of apt", c.text, got, c.want)
		}
	}
	r, _ := examine(t, "Ubuntu 22.04\n"+failed)
	if got := strings.Join(r.Findings[0].Fix, "\n"); !strings.Contains(got, "apt install") || strings.Contains(got, "pacman") {
		t.Errorf("Ubuntu is told %s", got)
	}
}
