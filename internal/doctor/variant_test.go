package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// TestNullVariant: the form of variant.json is the one that uv 0.13.9 installs.
func TestNullVariant(t *testing.T) {
	gpus := []machine.GPU{{Vendor: machine.NVIDIA, Name: "Tesla V100"}}
	for text, want := range map[string]bool{
		`{"variants": {"null": {}}}`:                                    true,
		`{"variants": {"cu126": {"nvidia": {"sm_arch": ["70_real"]}}}}`: false,
		`{"variants": {"null": {}, "cu126": {}}}`:                       false,
		`{"variants": 3}`:                                               false, `{`: false, `[]`: false,
	} {
		site := filepath.Join(t.TempDir(), "a [site]")
		dir := filepath.Join(site, "torch-2.15.0.dist-info")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "variant.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		torch := []machine.Package{{Name: "torch", Version: "2.15.0", Path: site}}
		patient := read.FromMachine(machine.Machine{GPUs: gpus, Installed: torch})
		NullVariant(patient, os.DirFS)
		report := Examine(know.Embedded(), patient)
		named := len(report.Findings) > 0 && report.Findings[0].Check == "PY001" && strings.Contains(strings.Join(report.Findings[0].Evidence, "\n"), "null variant")
		if named != want || (len(report.Notes) > 0) != want {
			t.Errorf("%s: %+v", text, report)
		}
		patient = read.FromMachine(machine.Machine{Installed: torch})
		NullVariant(patient, os.DirFS)
		if patient.Torch.NoCUDA || patient.Notes != nil {
			t.Errorf("%s: the null variant is right for a machine without a GPU", text)
		}
	}
}
