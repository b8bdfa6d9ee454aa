package probe

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// NVSwitches, the fabric manager and its package, and CDI descriptions of which one
// names what is gone, as YAML and as JSON.
func TestAround(t *testing.T) {
	root := testenv.Tree(t, map[string]string{
		"sys/bus/pci/devices/0000:c1:00.0/class":  "0x068000\n",
		"sys/bus/pci/devices/0000:c1:00.0/vendor": "0x10de\n",
		"sys/bus/pci/devices/0000:c2:00.0/class":  "0x030200\n",
		"sys/bus/pci/devices/0000:c2:00.0/vendor": "0x10de\n",
		"proc/42/comm": "nv-fabricmanage\n",
		"proc/43/comm": "bash\n",
		"var/lib/dpkg/status": "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.3\n\n" +
			"Package: nvidia-fabricmanager-580\nStatus: install ok installed\nArchitecture: amd64\nVersion: 580.95.05-1\n\n",
		"dev/nvidia0": "", "dev/nvidiactl": "", "usr/lib/libcuda.so.580.95.05": "",
		"etc/cdi/nvidia.yaml": "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n  containerEdits:\n    deviceNodes:\n" +
			"    - path: /dev/nvidia0\n    - path: /dev/nvidia1\ncontainerEdits:\n  hooks:\n  - path: /usr/bin/nvidia-cdi-hook\n  mounts:\n" +
			"  - hostPath: /usr/lib/libcuda.so.580.95.05\n    containerPath: /usr/lib/libcuda.so.580.95.05\n",
		"var/run/cdi/old.json":   `{"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "containerEdits": {"mounts": [{"hostPath": "/usr/lib/libcuda.so.570.86.10"}]}}`,
		"var/run/cdi/other.yaml": "kind: vendor.com/nic\ncontainerEdits:\n  deviceNodes:\n  - path: /dev/gone\n",
	})
	got := Around(Options{Root: root, OS: "linux"})
	want := &machine.Around{Switches: 1, Fabric: &machine.Fabric{Running: true, Package: "580.95.05"}, CDI: []machine.CDISpec{
		{File: "/etc/cdi/nvidia.yaml", Gone: []string{"/dev/nvidia1"}, Driver: "580.95.05"},
		{File: "/var/run/cdi/old.json", Gone: []string{"/usr/lib/libcuda.so.570.86.10"}, Driver: "570.86.10"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
