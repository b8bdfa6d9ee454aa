package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// extensions writes the packages that carry GPU code or pin torch. Rows that
// differ only in version or platform become one.
func (f *factory) extensions() error {
	rows, err := f.table("torch/extensions_proven.csv")
	if err != nil {
		return err
	}
	out := newFile("Packages that carry GPU code or pin torch, read from the wheels of the default index.",
		"torch: declared in the metadata, narrowed by what the bytes prove (symbols that a torch lacks).",
		"cuda: built for; its major must be torch's. builds: only beside these builds of torch.",
		"fails: where a wrong torch or CUDA shows: import, call, log (kernels are left out), silent (runs on the CPU).")
	out.line("extensions:")
	byFields := map[string]*extension{}
	var order []*extension
	for _, r := range rows {
		e := newExtension(r)
		key := fmt.Sprint(e.pkg, e.pairs, e.platform, e.cuda, e.proof, e.note)
		if old := byFields[key]; old != nil {
			old.add(e)
			continue
		}
		byFields[key] = e
		order = append(order, e)
	}
	for _, e := range mergePlatforms(order) {
		source := "metadata"
		if e.proof == "wheel" {
			source = "bytes"
		}
		known := out.set(source, []pair{{"proof", e.proof}, {"source", out.source(source, "default index, "+source+" read 2026-11-21 (facts/torch/extensions_proven.csv)")}})
		about := out.set(e.pkg, []pair{{"package", e.pkg}, {"needs", needs[e.pkg]}, {"fails", fails[e.pkg]}, {"notes", e.note}})
		pairs := append([]pair{{"use", known + " " + about}}, e.row()...)
		out.row(0, pairs)
	}
	f.files["extensions.yaml"] = out.bytes()
	return nil
}

// An extension is one wheel, or several that say the same.
type extension struct {
	pkg, platform, cuda, proof, note string
	versions, builds, platforms      []string
	pairs                            []pair // what the wheels have in common
}

func newExtension(r row) *extension {
	e := &extension{pkg: r["package"], platform: platformOf(r["wheel platform"]), proof: "metadata", versions: []string{r["version"]}}
	if r["proof"] == "bytes" {
		e.proof = "wheel"
	}
	e.cuda = builtFor(r["built cuda"])
	if e.pkg == "bitsandbytes" && e.cuda != "" {
		e.builds = bitsandbytesBuilds(r["version"], e.cuda)
		e.cuda, _, _ = strings.Cut(e.cuda, ".")
	}
	e.note = shortNote(r["note"])
	python, free := pythonOf(r["python"])
	e.pairs = []pair{{"sdist", yes(e.platform == "sdist")}, {"python", python}, {"free_threaded", yes(free)}, {"yanked", yes(strings.Contains(r["note"], "YANKED"))},
		{"torch", torchOf(r)}, {"cubins", dotCodes(r["sm_list"])}, {"ptx", dotCodes(r["ptx_list"])}}
	return e
}

func (e *extension) add(o *extension) {
	for _, v := range o.versions {
		if !slices.Contains(e.versions, v) {
			e.versions = append(e.versions, v)
		}
	}
	for _, b := range o.builds {
		if !slices.Contains(e.builds, b) {
			e.builds = append(e.builds, b)
		}
	}
}

// mergePlatforms joins rows that are equal but for the platform.
func mergePlatforms(all []*extension) []*extension {
	byFields := map[string]*extension{}
	var out []*extension
	for _, e := range all {
		key := fmt.Sprint(e.pkg, e.pairs, e.cuda, e.versions, e.builds, e.proof, e.note)
		if old := byFields[key]; old != nil {
			old.platforms = append(old.platforms, e.platform)
			continue
		}
		e.platforms = []string{e.platform}
		byFields[key] = e
		out = append(out, e)
	}
	return out
}

func (e *extension) row() []pair {
	on := strings.Join(e.platforms, " ")
	if on == "any" || on == "sdist" {
		on = ""
	}
	return append([]pair{{"versions", strings.Join(e.versions, " ")}, {"on", on}, {"cuda", e.cuda}, {"builds", strings.Join(e.builds, " ")}}, e.pairs...)
}

func platformOf(s string) string {
	s = strings.Replace(s, "macos aarch64", "macos arm64", 1)
	s = strings.Replace(s, "windows aarch64", "windows arm64", 1)
	return strings.Replace(s, " ", "-", 1)
}

// builtFor keeps "12.8" of "12.8 (nvcc 12.8.93)" and "13" of "major 13 (links …)".
func builtFor(s string) string {
	m := regexp.MustCompile(`^(?:major )?(\d+(?:\.\d+)?)`).FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return m[1]
}

// bitsandbytesBuilds: the loader takes the library of torch's own CUDA; from
// 0.50.0 on the nearest lower of the same major (extensions_proven.md, 5).
func bitsandbytesBuilds(version, cuda string) []string {
	builds := []string{"cu" + strings.ReplaceAll(cuda, ".", "")}
	if cuda == "12.8" && strings.HasPrefix(version, "0.50.") {
		builds = append(builds, "cu129")
	}
	return builds
}

// needs names the packages that hold the GPU code of one that has none of its own
// (extensions_proven.csv, notes).
var needs = map[string]string{"sglang": "sglang-kernel", "faster-whisper": "ctranslate2", "torch-tensorrt": "tensorrt"}

// fails says where a wrong torch or CUDA shows (extensions_proven.md, "Traps").
var fails = map[string]string{
	"vllm": "import", "sglang": "import", "sglang-kernel": "import", "sgl-kernel": "import", "torch-tensorrt": "import",
	"fbgemm-gpu": "import", "fbgemm-gpu-genai": "import", "torchcodec": "import", "auto-gptq": "import", "torchtext": "import",
	"xformers": "call", "bitsandbytes": "call", "ctranslate2": "call", "faster-whisper": "call", "torchao": "log", "onnxruntime-gpu": "silent",
}

// fbgemmTorch is the one torch minor that a release of fbgemm-gpu wants
// (extensions_proven.md: 1.5.0 with 2.10, 1.9.0 with 2.14; extensions.csv: 1.7.0
// with 2.12; the others follow in step).
var fbgemmTorch = map[string]int{"1.3": 8, "1.4": 9, "1.5": 10, "1.6": 11, "1.7": 12, "1.8": 13, "1.9": 14}

// tritonWindows is the torch that goes with a minor of triton-windows: its wheels
// declare none (extensions.csv: woct0rdho/triton-windows README, compatibility
// ledger).
var tritonWindows = map[string]string{"3.5": ">=2.9,<2.10", "3.6": ">=2.10,<2.12", "3.7": ">=2.12,<2.14", "3.8": ">=2.14,<2.15"}

// torchOf is the requirement: declared, narrowed by symbols that were looked for
// in torch 2.14.1 and 2.15.0 and are not there.
func torchOf(r row) string {
	declared, _, _ := strings.Cut(r["requires torch"], ";")
	declared = strings.NewReplacer("torch", "", " ", "", "(", "", ")", "", "none", "").Replace(declared)
	var parts []string
	if declared != "" {
		parts = append(parts, declared)
	}
	if minor, ok := fbgemmTorch[firstTwo(r["version"])]; ok && r["package"] == "fbgemm-gpu" {
		parts = append(parts, fmt.Sprintf(">=2.%d,<2.%d", minor, minor+1))
	}
	if spec, ok := tritonWindows[firstTwo(r["version"])]; ok && r["package"] == "triton-windows" {
		parts = append(parts, spec)
	}
	missing := regexp.MustCompile(`absent from 2\.15\.0\+cu132: (\d+), from 2\.14\.1\+cu130: (\d+)`).FindStringSubmatch(r["note"])
	if missing != nil && len(parts) < 2 && !strings.Contains(declared, "<") && !strings.Contains(declared, "==") && r["package"] != "torchao" && r["package"] != "paddlepaddle-gpu" {
		switch {
		case missing[2] != "0":
			parts = append(parts, "<2.14")
		case missing[1] != "0":
			parts = append(parts, "<2.15")
		}
	}
	return strings.Join(parts, ",")
}

func firstTwo(v string) string {
	parts := strings.SplitN(v, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// pythonOf reads "cp310..cp314 +t (>=3.10)", "cp38 abi3 (<3.15,>=3.10)", "py3 (>=3.9)":
// the Pythons that a wheel of the release exists for.
func pythonOf(s string) (spec string, freeThreaded bool) {
	freeThreaded = strings.Contains(s, "+t")
	if m := regexp.MustCompile(`\(([^)]*)\)`).FindStringSubmatch(s); m != nil {
		spec = m[1]
	}
	if m := regexp.MustCompile(`^cp3(\d+)\.\.cp3(\d+)`).FindStringSubmatch(s); m != nil {
		spec = fmt.Sprintf(">=3.%s,<3.%d", m[1], atoi(m[2])+1)
	} else if m := regexp.MustCompile(`^cp3(\d+) abi3$`).FindStringSubmatch(s); m != nil {
		spec = ">=3." + m[1]
	}
	return spec, freeThreaded
}

// shortNote leaves out what is counted in the facts and only explains a proof.
func shortNote(s string) string {
	var keep []string
	for _, part := range strings.Split(s, "; ") {
		if !regexp.MustCompile(`torch symbols asked|^absent from|size = library|^links |^other libraries|^libbitsandbytes|default-index file|see built cuda|^METADATA has no torch|^YANKED`).MatchString(part) {
			keep = append(keep, part)
		}
	}
	return strings.Join(keep, "; ")
}
