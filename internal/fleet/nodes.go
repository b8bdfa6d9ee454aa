package fleet

import (
	"encoding/json"
	"strconv"
	"strings"

	"envfix/internal/lazy"
)

// A kubeNode is what is read of a node of `kubectl get nodes -o json`.
type kubeNode struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
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
		w := words{os: n.Status.NodeInfo.OS, arch: kubeArch(n.Status.NodeInfo.Arch)}
		name, major := l["nvidia.com/gpu.product"], l["nvidia.com/gpu.compute.major"]
		if name == "" && major == "" {
			in.described(n.Metadata.Name, w)
			continue
		}
		gpu := strings.ReplaceAll(name, "-", " ")
		if major != "" { // the capability decides; the name may be one of a shared GPU (…-SHARED)
			gpu = major + "." + nameOf(l["nvidia.com/gpu.compute.minor"], "0")
		}
		w.gpus = []string{gpu}
		if n, _ := strconv.Atoi(l["nvidia.com/gpu.count"]); n > 1 {
			w.gpus = append(w.gpus, gpu)
		}
		w.driver = nameOf(l["nvidia.com/cuda.driver-version.full"], joined(l, "nvidia.com/cuda.driver-version.", "major", "minor", "revision"),
			joined(l, "nvidia.com/cuda.driver.", "major", "minor", "rev"))
		if w.driver == "" {
			in.Problem(n.Metadata.Name, "its labels name "+gpu+" and no driver (nvidia.com/cuda.driver-version.full)")
			continue
		}
		in.described(n.Metadata.Name, w)
	}
}

func kubeArch(arch string) string {
	switch arch {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return arch
}

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

// A slurmNode is what is read of a node of `scontrol show nodes --json` or `sinfo
// --json`. Features are a list in some versions of Slurm and a text in others.
type slurmNode struct {
	Name     string          `json:"name"`
	Hostname string          `json:"hostname"`
	Arch     string          `json:"architecture"`
	Gres     json.RawMessage `json:"gres"`
	Features json.RawMessage `json:"features"`
	Active   json.RawMessage `json:"active_features"`
}

var (
	gresGPU       = lazy.Regexp(`(?:^|,)gpu(?::([A-Za-z][A-Za-z0-9_.-]*))?(?::([0-9]+))?`)
	driverFeature = lazy.Regexp(`(?i)^(?:nv)?driver[-_:=]?([0-9]{3}(?:\.[0-9]+)*)$`)
	ccFeature     = lazy.Regexp(`(?i)^(?:cc|sm)[-_:=]?([0-9]{1,2})\.?([0-9])$`)
)

// slurm reads nodes by their GRES and features. Slurm knows no driver; a feature
// such as driver-580.95.05 may name it, else a job on the node has to.
func (in *Inventory) slurm(nodes []json.RawMessage) {
	for _, item := range nodes {
		var n slurmNode
		if err := json.Unmarshal(item, &n); err != nil || nameOf(n.Name, n.Hostname) == "" {
			in.Problem(in.name("", func() string { return "" }), "is no node as Slurm lists them")
			continue
		}
		host := nameOf(n.Name, n.Hostname)
		w := words{os: "linux", arch: n.Arch}
		features := append(textList(n.Features), textList(n.Active)...)
		capability := ""
		for _, f := range features {
			if m := driverFeature().FindStringSubmatch(f); m != nil {
				w.driver = m[1]
			}
			if m := ccFeature().FindStringSubmatch(f); m != nil {
				capability = m[1] + "." + m[2]
			}
		}
		m := gresGPU().FindStringSubmatch(strings.Join(textList(n.Gres), ","))
		if m == nil {
			in.described(host, words{os: "linux", arch: n.Arch})
			continue
		}
		gpu := nameOf(capability, strings.ReplaceAll(m[1], "_", " "))
		switch {
		case gpu == "":
			in.Problem(host, "Slurm names a GPU without its type: `srun -w "+host+" envfix facts --class` tells it")
			continue
		case w.driver == "":
			in.Problem(host, "Slurm does not know its driver: `srun -w "+host+" envfix facts --class` tells it, or a feature such as driver-580.95.05")
			continue
		}
		w.gpus = []string{gpu}
		if count, _ := strconv.Atoi(m[2]); count > 1 {
			w.gpus = append(w.gpus, gpu)
		}
		in.described(host, w)
	}
}

// textList reads a JSON list of texts, or one text with commas.
func textList(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}
