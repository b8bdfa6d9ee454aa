package gpu

import (
	"testing"

	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

// A container has the nodes of the GPUs that it was given; without any it has none to miss.
func TestContainerNodes(t *testing.T) {
	given := map[string]string{".dockerenv": "", "proc/driver/nvidia/gpus/0000:01:00.0/information": "Device Minor: 0\n", "dev/nvidia0": "", "dev/nvidiactl": ""}
	if got := Nodes(sysroot.New(sysroot.Options{Root: testenv.Tree(t, given), OS: "linux"})); len(got) != 1 || got[0].Path != "/dev/nvidia-uvm" {
		t.Errorf("given a GPU: %v", got)
	}
	delete(given, "dev/nvidia0")
	if got := Nodes(sysroot.New(sysroot.Options{Root: testenv.Tree(t, given), OS: "linux"})); got != nil {
		t.Errorf("given none: %v", got)
	}
}

// The number of NVIDIA's devices is fixed, also where the kernel lists no driver of them.
func TestMajors(t *testing.T) {
	for text, want := range map[string]uint64{"Character devices:\n  1 mem\n": 195, "Character devices:\n190 nvidia-frontend\n": 190} {
		h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, map[string]string{"proc/devices": text}), OS: "linux"})
		if got := majors(h)["nvidia"]; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
