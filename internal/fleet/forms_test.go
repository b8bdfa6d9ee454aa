package fleet

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	t4 := host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12.4")
	for _, c := range []struct {
		name, text, host string
		want             []string // "host: class", in order; a problem as "host! why"
	}{
		{"facts of one machine", string(t4.Encode()), "node1", []string{"node1: Tesla T4 (7.5), driver 535.183.01, glibc 2.35"}},
		{"a list", "[" + strings.TrimSpace(line("a", t4)) + ",\n" + strings.TrimSpace(line("b", t4)) + "]", "", []string{"a: Tesla T4 (7.5), driver 535.183.01, glibc 2.35", "b: Tesla T4 (7.5), driver 535.183.01, glibc 2.35"}},
		{"one class line", line("a", t4), "", []string{"a: Tesla T4 (7.5), driver 535.183.01, glibc 2.35"}},
		{"Ansible", `{"ansible_hostname": "gpu7", "ansible_local": {"envfix": ` + string(t4.ClassLine()) + `}}`, "", []string{"gpu7: Tesla T4 (7.5), driver 535.183.01, glibc 2.35"}},
		{"Ansible's cache since 2.19", `{"__payload__": ` + strconv.Quote(`{"ansible_local": {"envfix": `+string(t4.ClassLine())+`}, "module_setup": true}`) + `}`, "s1_gpu9", []string{
			"gpu9: Tesla T4 (7.5), driver 535.183.01, glibc 2.35"}},
		{"Ansible's cache since 2.19 without facts", `{"__payload__": "{\"ansible_hostname\": \"x\", \"module_setup\": true}"}`, "s1_gpu8", []string{"gpu8! Ansible's facts of it hold none of envfix"}},
		{"Ansible without facts", `{"ansible_hostname": "gpu8", "ansible_local": {}}`, "", []string{"gpu8! Ansible's facts of it hold none of envfix"}},
		{"CSV", "\ufeffHost, GPU, Driver, OS, Arch, Python\nw1, 2x RTX 4090, 580.88, windows, , 3.12\nn1, none, , linux, aarch64,\nx, RTX 4090, nonsense, linux,,\n", "", []string{
			"n1: no GPU, aarch64", "w1: RTX 4090 (8.9), driver 580.88, windows x86_64", "x! `--driver nonsense` is not understood"}},
		{"Kubernetes", `{"kind": "List", "items": [
		  {"metadata": {"name": "k1", "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0", "nvidia.com/gpu.count": "8", "nvidia.com/cuda.driver-version.full": "570.124.06"}}, "status": {"nodeInfo": {"architecture": "amd64", "operatingSystem": "linux"}}},
		  {"metadata": {"name": "k2", "labels": {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/cuda.driver.major": "535", "nvidia.com/cuda.driver.minor": "183", "nvidia.com/cuda.driver.rev": "01"}}, "status": {"nodeInfo": {"architecture": "amd64", "operatingSystem": "linux"}}},
		  {"metadata": {"name": "k3", "labels": {"nvidia.com/gpu.product": "Tesla-T4"}}, "status": {"nodeInfo": {"architecture": "amd64"}}},
		  {"metadata": {"name": "k4", "labels": {}}, "status": {"nodeInfo": {"architecture": "arm64", "operatingSystem": "linux"}}},
		  {"metadata": {"name": "k5", "labels": {}}, "status": {"capacity": {"cpu": "8", "nvidia.com/gpu": "4"}, "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux"}}},
		  {"metadata": {"name": "k6", "labels": {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}}, "status": {"nodeInfo": {"architecture": "amd64"}}},
		  {"metadata": {"name": "k7", "labels": {"feature.node.kubernetes.io/pci-0302_10de.present": "true"}}, "status": {"nodeInfo": {"architecture": "amd64"}}},
		  {"metadata": {"name": "k8", "labels": {}}, "status": {"capacity": {"amd.com/gpu": "8"}, "nodeInfo": {"architecture": "amd64"}}},
		  {"metadata": {"name": "k9", "labels": {"nvidia.com/gpu.present": "false"}}, "status": {"capacity": {"nvidia.com/gpu": "0"}, "nodeInfo": {"architecture": "amd64"}}}]}`, "", []string{
			"k1: GPU of compute capability 9.0 (9.0), driver 570.124.06", "k2: T4 (7.5), driver 535.183.01", "k3! its labels name Tesla T4 and no driver", "k4: no GPU, aarch64",
			"k5! it has nvidia.com/gpu, and no label says which", "k6! it has cloud.google.com/gke-accelerator, and no", "k7! it has feature.node.kubernetes.io/pci-0302_10de.present, and",
			"k8! it has amd.com/gpu, and only the labels of NVIDIA", "k9: no GPU"}},
		{"Slurm", `{"meta": {}, "nodes": [
		  {"name": "s1", "architecture": "x86_64", "gres": "gpu:h100:8(S:0-1)", "features": "cc90,driver-570.124.06"},
		  {"name": "s2", "architecture": "x86_64", "gres": "gpu:t4:4", "active_features": ["t4"]},
		  {"name": "s3", "architecture": "x86_64", "gres": "gpu:2", "features": ["driver535.183"]},
		  {"name": "s4", "architecture": "x86_64", "gres": ""}]}`, "", []string{
			"s1: GPU of compute capability 9.0 (9.0), driver 570.124.06", "s2! Slurm does not know its driver", "s3! Slurm names a GPU without its type", "s4: no GPU"}},
		{"sinfo", `{"meta": {}, "sinfo": [
		  {"nodes": {"total": 3, "nodes": ["g[01-02]", "x9"]}, "gres": {"total": "gpu:h100:8(S:0-1)"}, "features": {"total": "cc90,driver-570.124.06", "active": ""}},
		  {"nodes": {"nodes": ["g01"]}, "gres": {"total": "gpu:h100:8(S:0-1)"}, "features": {"total": "cc90,driver-570.124.06"}},
		  {"nodes": {"nodes": ["t1"]}, "gres": {"total": "gpu:t4:1"}, "features": {"total": ""}},
		  {"nodes": {"nodes": []}, "gres": {}},
		  {"nodes": {"nodes": ["c1"]}, "gres": {"total": "(null)"}, "features": {"total": "aarch64"}}]}`, "", []string{
			"g01: GPU of compute capability 9.0 (9.0), driver 570.124.06", "g02: GPU of compute capability 9.0", "x9: GPU of compute capability 9.0",
			"t1! Slurm does not know its driver", "c1: no GPU, aarch64"}},
		{"CSV of an inventory", "host,gpu,driver,os\na,T4,535.183.01,Ubuntu 22.04\nb,T4,535.183.01,Windows Server 2022\nc,none,,macOS 14\nd,T4,535.183.01,Rocky Linux 9.3\ne,T4,535.183.01,VMS 7\n", "", []string{
			"a: T4 (7.5), driver 535.183.01", "b: T4 (7.5), driver 535.183.01, windows", "c: Apple GPU, macos arm64", "d: T4 (7.5), driver 535.183.01", "e! `--os VMS 7` is not understood"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := New()
			if err := in.Read(strings.NewReader(c.text), "the file", c.host); err != nil {
				t.Fatal(err)
			}
			in.Close()
			got := map[string]string{}
			for _, x := range in.Classes {
				for _, h := range x.Hosts {
					got[h] = ": " + x.Name()
				}
			}
			for _, x := range in.Problems {
				got[x.Host] = "! " + x.Why
			}
			for _, want := range c.want {
				host, _, _ := strings.Cut(want, ":")
				host, _, _ = strings.Cut(host, "!")
				if !strings.HasPrefix(host+got[host], want) {
					t.Errorf("want %s\n got %s%s", want, host, got[host])
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%d machines, want %d: %v", len(got), len(c.want), got)
			}
		})
	}
}

func TestFormsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "empty",
		" \n":                        "empty",
		"hello\nworld":               "neither JSON nor CSV",
		`{"some": "thing"}`:          "holds no machines",
		`{"format": 1, "gpus": `:     "not JSON",
		`[1, `:                       "not JSON",
		`{"__payload__": " "}`:       "not JSON",
		`{"ansible_facts": null}`:    "holds no machines",
		"host,driver\nn1,580.95.05":  "columns host and gpu",
		"host,gpu\n\"n1, T4\n":       "extraneous or missing",
		strings.Repeat("{", 300_000): "not JSON",
	} {
		in := New()
		if err := in.Read(strings.NewReader(text), "the file", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestGPULists(t *testing.T) {
	for text, want := range map[string]string{"": "[]", "none": "[]", "T4": "[T4]", "8x H100": "[H100 H100]", "2 x RTX 4090": "[RTX 4090 RTX 4090]",
		"T4; V100": "[T4 V100]", "4090": "[4090]", "3090 Ti": "[3090 Ti]", "xyz": "[xyz]"} {
		if got := fmt.Sprint(gpuList(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestHostLists(t *testing.T) {
	for text, want := range map[string]string{"n1": "[n1]", "g[08-10,12]": "[g08 g09 g10 g12]", "r[1-2]n[1-2]-ib": "[r1n1-ib r1n2-ib r2n1-ib r2n2-ib]",
		"g[": "[g[]", "g[3-1]": "[g[3-1]]", "g[1-9999999]": "[g[1-9999999]]", "g[a-b]": "[g[a-b]]", "": "[]"} {
		if got := fmt.Sprint(hostList(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
