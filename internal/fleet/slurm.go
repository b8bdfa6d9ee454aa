package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lazy"
)

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
		if err := json.Unmarshal(item, &n); err != nil || cmp.Or(n.Name, n.Hostname) == "" {
			in.Problem(in.name("", func() string { return "" }), "is no node as Slurm lists them")
			continue
		}
		in.slurmNode(n)
	}
}

// A slurmRow is a line of `sinfo --json` since Slurm 23.02: nodes that are alike.
type slurmRow struct {
	Nodes struct {
		Nodes []string `json:"nodes"`
	} `json:"nodes"`
	Gres struct {
		Total json.RawMessage `json:"total"`
	} `json:"gres"`
	Features struct {
		Total  json.RawMessage `json:"total"`
		Active json.RawMessage `json:"active"`
	} `json:"features"`
}

// sinfo reads the rows of sinfo, which name no architecture: a feature such as aarch64
// may.
func (in *Inventory) sinfo(rows []json.RawMessage) {
	for _, item := range rows {
		var r slurmRow
		if err := json.Unmarshal(item, &r); err != nil {
			in.Problem(in.name("", func() string { return "" }), "is no row as sinfo prints them")
			continue
		}
		for _, list := range r.Nodes.Nodes {
			for _, host := range hostList(list) {
				in.slurmNode(slurmNode{Name: host, Gres: r.Gres.Total, Features: r.Features.Total, Active: r.Features.Active})
			}
		}
	}
}

// maxHosts bounds what one text stands for; Slurm's own bound is 64 thousand.
const maxHosts = 1 << 16

// hostList reads Slurm's form of several names, gpu[01-03,7]; what is not of it is a
// name as it stands.
func hostList(list string) []string {
	head, rest, ok := strings.Cut(list, "[")
	inner, tail, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return slices.DeleteFunc([]string{list}, func(s string) bool { return s == "" })
	}
	tails := hostList(tail)
	if len(tails) == 0 {
		tails = []string{""}
	}
	var out []string
	for _, part := range strings.Split(inner, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a < 0 || b < a || b-a >= maxHosts/len(tails) || len(out) >= maxHosts {
			return []string{list}
		}
		for _, end := range tails {
			for n := a; n <= b; n++ {
				out = append(out, fmt.Sprintf("%s%0*d%s", head, len(from), n, end))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (in *Inventory) slurmNode(n slurmNode) {
	host := cmp.Or(n.Name, n.Hostname)
	w := words{Machine: describe.Machine{OS: "linux", Arch: n.Arch}}
	features := append(textList(n.Features), textList(n.Active)...)
	capability := ""
	for _, f := range features {
		if arch := strings.ToLower(f); w.Arch == "" && (arch == "aarch64" || arch == "arm64") {
			w.Arch = "aarch64"
		}
		if m := driverFeature().FindStringSubmatch(f); m != nil {
			w.Driver = m[1]
		}
		if m := ccFeature().FindStringSubmatch(f); m != nil {
			capability = m[1] + "." + m[2]
		}
	}
	m := gresGPU().FindStringSubmatch(strings.Join(textList(n.Gres), ","))
	if m == nil {
		in.described(host, words{Machine: describe.Machine{OS: "linux", Arch: w.Arch}})
		return
	}
	gpu := cmp.Or(capability, strings.ReplaceAll(m[1], "_", " "))
	switch {
	case gpu == "":
		in.Problem(host, "Slurm names a GPU without its type: `srun -w "+host+" envfix facts --class` tells it")
		return
	case w.Driver == "":
		in.Problem(host, "Slurm does not know its driver: `srun -w "+host+" envfix facts --class` tells it, or a feature such as driver-580.95.05")
		return
	}
	w.GPUs = []string{gpu}
	if count, _ := strconv.Atoi(m[2]); count > 1 {
		w.GPUs = append(w.GPUs, gpu)
	}
	in.described(host, w)
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
