package fleet

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lazy"
)

// A kubeNode is what is read of a node of `kubectl get nodes -o json`.
type kubeNode struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
		Capacity map[string]string `json:"capacity"`
		NodeInfo struct {
			Arch string `json:"architecture"`
			OS   string `json:"operatingSystem"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

// kubernetes reads nodes by the labels of NVIDIA's GPU feature discovery. Its
// names of the driver's version changed; the new ones are read first
// (https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery).
func (in *Inventory) kubernetes(items []json.RawMessage) {
	for _, item := range items {
		var n kubeNode
		if err := json.Unmarshal(item, &n); err != nil || n.Metadata.Name == "" {
			in.Problem(in.name("", func() string { return "" }), "is no node as Kubernetes lists them")
			continue
		}
		l := n.Metadata.Labels
		w := words{Machine: describe.Machine{OS: n.Status.NodeInfo.OS, Arch: n.Status.NodeInfo.Arch}}
		name, major := l["nvidia.com/gpu.product"], l["nvidia.com/gpu.compute.major"]
		if name == "" && major == "" {
			switch sign := n.accelerator(); {
			case sign == "":
				in.described(n.Metadata.Name, w)
			case strings.HasPrefix(sign, "amd.com/") || strings.HasPrefix(sign, "gpu.intel.com/"):
				in.Problem(n.Metadata.Name, "it has "+sign+
					", and only the labels of NVIDIA's GPU feature discovery are read: `envfix facts --class` in a pod there tells it")
			default:
				in.Problem(n.Metadata.Name, "it has "+sign+
					", and no label says which GPU and driver (nvidia.com/gpu.product: NVIDIA's GPU feature discovery)")
			}
			continue
		}
		gpu := strings.ReplaceAll(name, "-", " ")
		if major != "" { // the capability decides; the name may be one of a shared GPU (…-SHARED)
			gpu = major + "." + cmp.Or(l["nvidia.com/gpu.compute.minor"], "0")
		}
		w.GPUs = []string{gpu}
		if n, _ := strconv.Atoi(l["nvidia.com/gpu.count"]); n > 1 {
			w.GPUs = append(w.GPUs, gpu)
		}
		w.Driver = cmp.Or(l["nvidia.com/cuda.driver-version.full"], joined(l, "nvidia.com/cuda.driver-version.", "major", "minor", "revision"),
			joined(l, "nvidia.com/cuda.driver.", "major", "minor", "rev"))
		if w.Driver == "" {
			in.Problem(n.Metadata.Name, "its labels name "+gpu+" and no driver (nvidia.com/cuda.driver-version.full)")
			continue
		}
		in.described(n.Metadata.Name, w)
	}
}

// accelerator is what says that a node has GPUs where GPU feature discovery does not:
// a resource of a device plugin, or a label of node feature discovery or of a cloud.
func (n *kubeNode) accelerator() string {
	for _, name := range slices.Sorted(maps.Keys(n.Status.Capacity)) {
		vendor, _, _ := strings.Cut(name, "/")
		if slices.Contains([]string{"nvidia.com", "amd.com", "gpu.intel.com"}, vendor) && n.Status.Capacity[name] != "0" {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Metadata.Labels)) {
		value := n.Metadata.Labels[name]
		switch {
		case name == "nvidia.com/gpu.present" && value == "true",
			nvidiaPCI().MatchString(name) && value == "true",
			name == "cloud.google.com/gke-accelerator" && value != "",
			name == "k8s.amazonaws.com/accelerator" && value != "":
			return name
		}
	}
	return ""
}

// nvidiaPCI is the label of node feature discovery for a display or 3D controller of
// NVIDIA, whose PCI vendor is 10de.
var nvidiaPCI = lazy.Regexp(`^feature\.node\.kubernetes\.io/pci-(?:030[02]_)?10de\.present$`)

// joined is the values of some labels with dots between them, "" where one is not there.
func joined(labels map[string]string, prefix string, names ...string) string {
	var parts []string
	for _, n := range names {
		v := labels[prefix+n]
		if v == "" {
			return ""
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, ".")
}
