package machine

import "testing"

func TestUpstream(t *testing.T) {
	for in, want := range map[string]string{
		"580.95.05-0ubuntu0.24.04.1": "580.95.05", "535.261.03-1~deb12u1": "535.261.03", "3:580.65.06-1.el9": "580.65.06",
		"580.126.20_k6.4.0_150600.21-150600.1": "580.126.20", "580.95.05": "580.95.05", "1:2.3-1": "", "": "", "x": "", "20230101-1": "",
	} {
		if got := Upstream(in).String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDriverPackage(t *testing.T) {
	for name, want := range map[string]bool{
		"nvidia-driver-580-open": true, "libnvidia-compute-580": true, "nvidia-dkms-580": true, "kmod-nvidia-open-dkms": true, "cuda-drivers-580": true,
		"xserver-xorg-video-nvidia-580": true, "linux-modules-nvidia-580-generic": true, "nvidia-open": true, "libnvidia-cfg1": true,
		"nvidia-container-toolkit": false, "libnvidia-container1": false, "nvidia-cuda-toolkit": false, "nvidia-docker2": false, "nvidia-detect": false,
		"ubuntu-desktop": false, "linux-image-generic": false, "cuda-toolkit-13-0": false, "gnome-shell": false,
	} {
		if got := DriverPackage(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// Facts of another host cannot carry an option or a second command into the
// command lines of the package manager.
func TestDriverPackagesAreChecked(t *testing.T) {
	for _, p := range []DriverPackages{
		{Manager: "sh"}, {Manager: "dnf", Held: []string{"--nogpgcheck"}}, {Manager: "dnf", Offered: map[string][]string{"nvidia-open": {"1 --nogpgcheck"}}},
		{Manager: "apt-get", Installed: map[string]string{"nvidia-open": "-1"}}, {Manager: "apt-get", Installed: map[string]string{"a b": "1"}},
		{Manager: "zypper", OwnHolds: []string{"x;y"}}, {Manager: "apt-get", Held: make([]string, maxList+1)},
	} {
		if p.check() == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	good := DriverPackages{Manager: "dnf", Offered: map[string][]string{"nvidia-open": {"3:580.95.05-1.el9"}}, Held: []string{"nvidia-open"}}
	if err := good.check(); err != nil {
		t.Error(err)
	}
}
