package doctor

import (
	"encoding/json"
	"io"
	"io/fs"
	"slices"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// NullVariant marks torch as built without CUDA where it is the null variant, and notes
// how it came: an installer's preview of wheel variants (drafts PEP 825 and 850) takes
// that one, silently, when its provider finds no GPU or a driver that is too old. open reads a
// directory.
func NullVariant(patient *read.Case, open func(dir string) fs.FS) {
	h := patient.Machine
	if !slices.ContainsFunc(h.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA }) {
		return
	}
	for _, p := range h.Installed {
		if p.Name != "torch" || p.Path == "" {
			continue
		}
		site := open(p.Path)
		found, _ := fs.Glob(site, "torch-*.dist-info/variant.json")
		if !slices.ContainsFunc(found, func(name string) bool { return variantLabel(site, name) == "null" }) {
			return
		}
		patient.Torch.NoCUDA = true
		patient.Torch.CUDAAt = read.Evidence{Text: "its variant.json names the null variant"}
		patient.Notes = append(patient.Notes, "an installer with a preview of wheel variants takes the null variant of torch, a CPU build, silently "+
			"where it finds no NVIDIA GPU, or a driver that is too old; `envfix env --variants` prints what makes it choose right")
		return
	}
}

// variantLabel is the variant that a wheel's variant.json names; "" where it names none
// or several.
func variantLabel(site fs.FS, name string) string {
	f, err := site.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	var of struct {
		Variants map[string]any `json:"variants"`
	}
	if json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&of) != nil || len(of.Variants) != 1 {
		return ""
	}
	for label := range of.Variants {
		return label
	}
	return ""
}
