package main

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// devices writes the device table: a text of its own, because YAML would make it
// twenty times slower to read and no easier to review.
func (f *factory) devices() error {
	pci, err := f.table("nvidia/pci_ids.csv")
	if err != nil {
		return err
	}
	named, err := f.table("nvidia/gpus.csv")
	if err != nil {
		return err
	}
	intel, err := f.table("intel_gpus.csv")
	if err != nil {
		return err
	}
	amd, err := f.table("torch/rocm_gfx.csv")
	if err != nil {
		return err
	}
	d := &deviceWriter{chips: map[string]string{}, family: map[string]string{}, taken: map[string]bool{}, seen: map[string]bool{}}
	for _, r := range named {
		d.family[r["name"]] = families[r["family"]]
	}
	for _, r := range pci {
		d.nvidia(r)
	}
	for _, r := range named {
		d.name(r)
	}
	d.intel(intel)
	d.amd(amd)
	f.files["devices.tsv"] = d.bytes()
	return nil
}

type deviceWriter struct {
	chips    map[string]string // "chip arch cc branch" → name in the table
	family   map[string]string // letter of the product line by name
	taken    map[string]bool
	modules  [][3]string     // name, capability and flavour of the ids that say it
	seen     map[string]bool // names with their capability
	chipRows []string
	rows     []string
	others   []string // names without an id, Intel, AMD
}

const deviceHead = `# GPUs by PCI id and by name. Written by internal/datagen; see README.md.
# chip: name, architecture, compute capability, last driver branch (empty: still driven)
# id: vendor:device, subsystem, chip, kernel modules (o open only, b both, p proprietary
#     only, empty: as the architecture), product line, how it is known, name
# name: chip, kernel modules, product line, how it is known, name of a GPU that no id carries
# product line: g GeForce and TITAN, w workstation, d data centre, c CMP, GRID and DRIVE,
#     j Jetson, s Spark
# intel: id, generation, how it is known, name
# xpu: generation, whether XPU builds serve it, where
# amd: gfx target, name
# known by: s supported-gpus.json@590.48.01 (MIT), r open-gpu-kernel-modules README@595.45.04
# (MIT), p pci.ids@2026.10.24 (BSD-3), i inferred from neighbouring ids, c the chip's
# capability is not published, o developer.nvidia.com/cuda-gpus, u unverified;
# Intel: p pci.ids with d PyTorch's documentation, b build scripts, t reports, i inferred
`

// families are the letters of gpus.csv's families.
var families = map[string]string{
	"GeForce/TITAN": "g", "RTX/Quadro workstation": "w", "Data center": "d", "CMP/GRID/DRIVE": "c",
	"Jetson/Tegra": "j", "DGX Spark/RTX Spark": "s"}

// intelProofs are the letters of intel_gpus.csv's proofs.
var intelProofs = map[string]string{"documentation": "pd", "build-script": "pb", "report": "pt", "inferred": "pi"}

func (d *deviceWriter) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(deviceHead)
	sort.Strings(d.chipRows)
	for _, group := range [][]string{d.chipRows, d.rows, d.others} {
		for _, r := range group {
			b.WriteString(r + "\n")
		}
	}
	return b.Bytes()
}

// chip returns the name of a chip row; the same chip with another capability or
// branch (a few marketing families) gets a row of its own.
func (d *deviceWriter) chip(name, arch, cc, branch string) string {
	branch, _, _ = strings.Cut(branch, ".")
	if branch == "JetPack" {
		branch = ""
	}
	key := strings.Join([]string{name, arch, cc, branch}, "\t")
	if n, ok := d.chips[key]; ok {
		return n
	}
	base := name
	if base == "" {
		base = "?" + cc
	}
	n := unusedName(base, func(n string) bool { return d.taken[n] })
	d.taken[n] = true
	d.chips[key] = n
	d.chipRows = append(d.chipRows, strings.Join([]string{"chip", n, arch, cc, branch}, "\t"))
	return n
}

// marketing is the name in brackets of a pci.ids entry: "GV100GL [Tesla V100]".
func marketing(name string) string {
	if m := regexp.MustCompile(`\[(.*)\]$`).FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

func (d *deviceWriter) nvidia(r row) {
	name := marketing(r["name"])
	chip := d.chip(r["chip"], r["arch"], r["cc"], r["last_driver_branch"])
	sub := ""
	if r["subvendor_id"] != "" {
		sub = hex(r["subvendor_id"]) + ":" + hex(r["subdevice_id"])
	}
	d.seen[name+" "+r["cc"]] = true
	flavour := module(r["kernel_module"], r["arch"])
	if r["kernel_module"] != "" {
		d.modules = append(d.modules, [3]string{name, r["cc"], flavour})
	}
	d.rows = append(d.rows, strings.Join([]string{"10de:" + hex(r["device_id"]), sub, chip, flavour, d.family[name], knownBy(r["source"], r["method"]), name}, "\t"))
}

func hex(s string) string { return strings.ToLower(strings.TrimPrefix(s, "0x")) }

// module is the letter of a kernel module flavour; where the id's row is silent,
// that of its architecture (arch_driver.csv).
func module(s, arch string) string {
	if s == "" || s == "open_supported" { // supported by the open one: says nothing of the other
		switch arch {
		case "Blackwell", "Rubin":
			return "o"
		case "Turing", "Ampere", "Ada", "Hopper":
			return "b"
		case "":
			return ""
		}
		return "p"
	}
	switch {
	case strings.HasPrefix(s, "open_only"):
		return "o"
	case s == "open_or_proprietary":
		return "b"
	case strings.HasPrefix(s, "proprietary"):
		return "p"
	}
	return ""
}

func knownBy(source, method string) string {
	out := ""
	for _, k := range []struct{ text, letter string }{
		{"supported-gpus.json", "s"}, {"kernel-modules README", "r"}, {"pci.ids", "p"}, {"cuda-gpus", "o"}, {"unverified", "u"}} {
		if strings.Contains(source, k.text) {
			out += k.letter
		}
	}
	if strings.HasPrefix(method, "inferred") {
		out += "i"
	}
	if strings.Contains(method, "not published") {
		out += "c"
	}
	return out
}

// name adds the names that no id carries: Jetson modules, and names of NVIDIA's
// own list of capabilities.
func (d *deviceWriter) name(r row) {
	if d.seen[r["name"]+" "+r["cc"]] {
		return
	}
	chip, _, _ := strings.Cut(r["chip"], "|")
	flavour := module("", r["arch"])
	model := strings.TrimPrefix(strings.TrimPrefix(r["name"], "NVIDIA "), "Tesla ")
	for _, m := range d.modules {
		if m[1] == r["cc"] && strings.Contains(m[0], model) {
			flavour = m[2] // GH200 needs the open module, other Hoppers do not
		}
	}
	if r["family"] == "Jetson/Tegra" {
		flavour = "" // the driver comes with JetPack
	}
	d.others = append(d.others, strings.Join([]string{"name", d.chip(chip, r["arch"], r["cc"], r["last_driver_branch"]), flavour, families[r["family"]], knownBy(r["source"], ""), r["name"]}, "\t"))
}

func (d *deviceWriter) intel(rows []row) {
	seen := map[string]bool{}
	var out []string
	for _, r := range rows {
		g := strings.Join([]string{"xpu", r["generation"], r["xpu_supported"], strings.ReplaceAll(r["platforms"], ";", " ")}, "\t")
		if !seen[g] {
			seen[g] = true
			d.others = append(d.others, g)
		}
		out = append(out, strings.Join([]string{"intel", "8086:" + hex(r["pci_device_id"]), r["generation"], intelProofs[r["proof"]], marketing(r["name"])}, "\t"))
	}
	d.others = append(d.others, out...)
}

// amd writes one row per product: "RX 7900 XTX/XT/GRE; Pro W7900/W7800" names five.
func (d *deviceWriter) amd(rows []row) {
	seen := map[string]bool{}
	for _, r := range rows {
		for _, name := range products(r["gpu_names"]) {
			if !strings.HasPrefix(name, "Radeon") && !strings.HasPrefix(name, "Instinct") {
				name = "Radeon " + name
			}
			line := fmt.Sprintf("amd\t%s\t%s", r["gfx"], name)
			if !seen[line] {
				seen[line] = true
				d.others = append(d.others, line)
			}
		}
	}
}

func products(text string) []string {
	text = regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(text, "")
	var out []string
	for _, family := range strings.Split(text, ";") {
		items := strings.Split(strings.TrimSpace(family), "/")
		base := strings.Fields(items[0])
		out = append(out, items[0])
		for _, item := range items[1:] {
			keep := len(base) - 1
			if item[0] >= '0' && item[0] <= '9' { // "6900 XT" replaces "6800", wherever that stands
				for keep = 0; keep < len(base) && (base[keep][0] < '0' || base[keep][0] > '9'); keep++ {
				}
			}
			out = append(out, strings.Join(append(append([]string{}, base[:keep]...), item), " "))
		}
	}
	return out
}
