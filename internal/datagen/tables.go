package main

import (
	"regexp"
	"strings"
)

// cuda writes floors, toolkits, their components and forward compatibility.
func (f *factory) cuda() error {
	out := newFile("CUDA: driver floors per build, toolkits with both driver columns, what a toolkit", "is made of, and the forward compatibility packages.")
	out.head = []pair{{"proof", "documentation"}}
	floors, err := f.table("torch/driver_minimums.csv")
	if err != nil {
		return err
	}
	out.line("# The oldest driver that runs builds of a CUDA family (minor-version compatibility).")
	out.line("floors:")
	first := ""
	for _, r := range floors {
		if source := r["source"]; !strings.HasPrefix(source, "same") {
			first = source
		}
		out.row(0, []pair{{"build", r["variant"]}, {"cuda", r["cuda"]}, {"linux", r["min_driver_linux"]}, {"windows", r["min_driver_windows"]},
			{"source", out.source("floors", first+"; NVIDIA CUDA release notes, table 2")}})
	}
	if err := f.toolkits(out); err != nil {
		return err
	}
	components, err := f.table("torch/cuda_components.csv")
	if err != nil {
		return err
	}
	out.line("\n# The libraries of a toolkit, as torch's wheels pin them.")
	out.line("components:")
	out.row(0, []pair{{"cuda", "11.7.0"}, {"cublas", "11.10.3.66"}, {"cufft", "10.9.0.58"}, {"curand", "10.2.10.91"}, {"cusolver", "11.4.0.1"}, {"cusparse", "11.7.4.91"},
		{"source", out.source("pins", "the wheels that torch 2.0.1 pins, facts/nvidia/stack.md")}})
	for _, r := range components {
		out.row(0, []pair{{"cuda", r["cuda_toolkit"]}, {"cublas", r["cublas"]}, {"cufft", r["cufft"]}, {"curand", r["curand"]},
			{"cusolver", r["cusolver"]}, {"cusparse", r["cusparse"]}, {"source", out.source("redistrib", "NVIDIA redistrib manifests, facts/torch/cuda_components.csv")}})
	}
	compat, err := f.table("nvidia/forward_compat.csv")
	if err != nil {
		return err
	}
	out.line("\n# A cuda-compat package lets data-centre GPUs run a newer CUDA on an older base branch.")
	out.line("forward_compat:")
	for _, r := range compat {
		brands := ""
		if r["nvml_brands_allowed"] != "" {
			brands = out.set("brands", []pair{{"brands", strings.ReplaceAll(r["nvml_brands_allowed"], "|", " ")}})
		}
		out.row(0, []pair{{"use", brands}, {"cuda", r["cuda_version"]}, {"package", r["compat_package"]}, {"from", raw + r["built_from_driver_branch"]},
			{"base", strings.ReplaceAll(r["base_driver_branches_supported"], "|", " ")}, {"source", out.source("compat", r["source"])}})
	}
	f.files["cuda.yaml"] = out.bytes()
	return nil
}

func (f *factory) toolkits(out *file) error {
	rows, err := f.table("nvidia/cuda_driver.csv")
	if err != nil {
		return err
	}
	out.line("\n# linux and windows: the minimum of the release notes' table; *_family: that of the family;")
	out.line("# *_bundled: the driver in the installer. ? in the facts: inferred, said in notes.")
	out.line("toolkits:")
	for _, r := range rows {
		family := out.set("family", []pair{{"linux_family", driver(r["family_min_linux"])}, {"windows_family", driver(r["family_min_windows"])}})
		notes := ""
		if strings.Contains(r["linux_bundled_driver"], "?") {
			notes = "the pairing with this driver is inferred"
		}
		cuda := strings.TrimSuffix(r["toolkit_version"], ".x")
		if cuda != r["toolkit_version"] {
			notes += "; the toolkit itself was not seen"
		}
		out.row(0, []pair{{"use", family}, {"cuda", cuda}, {"name", r["label"]}, {"linux", driver(r["linux_table_min_driver"])},
			{"linux_bundled", driver(r["linux_bundled_driver"])}, {"windows", driver(r["windows_table_min_driver"])},
			{"windows_bundled", driver(r["windows_bundled_driver"])}, {"source", out.source("toolkits", r["source"])}, {"notes", notes}})
	}
	return nil
}

// driver drops what is not a version: N/A, and the ? of an inferred one.
func driver(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), "?")
	if regexp.MustCompile(`^[0-9.]+$`).MatchString(s) {
		return s
	}
	return ""
}

// drivers writes the driver branches.
func (f *factory) drivers() error {
	rows, err := f.table("nvidia/driver_branches.csv")
	if err != nil {
		return err
	}
	out := newFile("NVIDIA's driver branches.")
	out.head = []pair{{"proof", "documentation"}}
	out.line("branches:")
	for _, r := range rows {
		kind, _, _ := strings.Cut(r["type"], " ")
		out.row(0, []pair{{"branch", raw + r["branch"]}, {"kind", kind}, {"linux", driver(r["linux_latest"])}, {"windows", driver(r["windows_latest"])},
			{"first", r["linux_first_release"]}, {"active_end", r["active_support_end"]}, {"eol", day(r["eol"])}, {"cuda", driver(r["cuda_reported"])},
			{"oldest", strings.Fields(r["gpu_floor"] + " ")[0]}, {"modules", modules(atoi(r["branch"]))},
			{"source", out.source("branches", r["source"])}, {"notes", branchNote(r)}})
	}
	f.files["drivers.yaml"] = out.bytes()
	return nil
}

// day drops what is not a day; branchNote keeps it in words.
func day(s string) string {
	if regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(s) {
		return s
	}
	return ""
}

func branchNote(r row) string {
	if day(r["eol"]) == r["eol"] {
		return r["note"]
	}
	return strings.TrimPrefix(r["note"]+"; end of life "+r["eol"], "; ")
}

// modules: the open kernel module came with 515, the proprietary one went with
// 620 (NVIDIA's driver installation guides; 615 is disputed, facts/nvidia/README.md 7).
func modules(branch int) string {
	switch {
	case branch < 515:
		return "proprietary"
	case branch < 620:
		return "open proprietary"
	}
	return "open"
}

// cudnn writes cuDNN's own support matrix and the pairs of the container images.
func (f *factory) cudnn() error {
	rows, err := f.table("nvidia/cudnn.csv")
	if err != nil {
		return err
	}
	images, err := f.table("nvidia/cudnn_image_pairs.csv")
	if err != nil {
		return err
	}
	out := newFile("cuDNN as its own documentation has it. What the wheels' bytes say (libraries.yaml) wins.")
	out.head = []pair{{"proof", "documentation"}}
	out.line("cudnn:")
	for _, r := range rows {
		out.row(0, []pair{{"versions", r["cudnn"]}, {"cuda_major", strings.ReplaceAll(r["cuda_major"], "|", " ")}, {"cuda", r["cuda_versions"]}, {"linux", r["min_driver_linux"]},
			{"windows", r["min_driver_windows"]}, {"gpus", r["compute_capabilities"]}, {"source", out.source("cudnn", r["source"])}, {"notes", r["notes"]}})
	}
	out.line("\n# cuDNN in NVIDIA's CUDA container images.")
	out.line("images:")
	for _, r := range images {
		out.row(0, []pair{{"cuda", r["cuda_image"]}, {"cudnn", strings.ReplaceAll(r["cudnn_versions_shipped"], "|", " ")}, {"source", out.source("images", r["source"])}})
	}
	f.files["cudnn.yaml"] = out.bytes()
	return nil
}

// brokenTarget finds in a source the report that rocBLAS lacks the target: the
// build lists it, and the first matmul aborts.
func brokenTarget(source string) string {
	for part := range strings.SplitSeq(source, ";") {
		if strings.Contains(part, "kernels: matmul aborts") {
			about, _, _ := strings.Cut(part, " (")
			return strings.TrimSpace(about)
		}
	}
	return ""
}

// rocm writes the gfx targets of the ROCm builds.
func (f *factory) rocm() error {
	rows, err := f.table("torch/rocm_gfx.csv")
	if err != nil {
		return err
	}
	out := newFile("AMD GPUs that the ROCm builds have code for.")
	out.line("gfx_names:")
	named := map[string]bool{}
	for _, r := range rows {
		if !named[r["gfx"]] {
			named[r["gfx"]] = true
			out.row(0, []pair{{"gfx", r["gfx"]}, {"names", r["gpu_names"]}})
		}
	}
	targets := map[string]string{}
	var order []string
	for _, r := range rows {
		torch := r["torch"]
		if torch == "all" {
			torch = ""
		}
		key := flow([]pair{{"build", r["variant"]}, {"torch", torch}, {"broken", brokenTarget(r["source"])}, {"proof", r["proof"]}, {"source", out.source("rocm", r["source"])}})
		if targets[key] == "" {
			order = append(order, key)
		}
		targets[key] = strings.TrimSpace(targets[key] + " " + r["gfx"])
	}
	out.line("\nrocm:")
	for _, key := range order {
		out.line("- {gfx: %q, %s", targets[key], key[1:])
	}
	f.files["rocm.yaml"] = out.bytes()
	return nil
}
