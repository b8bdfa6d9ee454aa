package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMade: the generated files of data/ are what the generator writes today.
func TestMade(t *testing.T) {
	const facts = "../../../shared/facts"
	if _, err := os.Stat(facts); err != nil {
		t.Skipf("the collected facts are not beside this checkout: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "torch"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(facts, dir); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	torch, err := filepath.Glob(filepath.Join(dir, "torch", "*"))
	if err != nil || len(torch) != 18 {
		t.Fatalf("%d files of torch, want 18: %v", len(torch), err)
	}
	for _, name := range append(made, torch...) {
		if filepath.Base(name) == "torch" {
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../data", rel))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("data/%s differs from what the facts give (-made +there):\n%.2000s", rel, d)
		}
	}
}

func TestProducts(t *testing.T) {
	for text, want := range map[string][]string{
		"Radeon RX 7900 XTX/XT/GRE; Pro W7900/W7800":     {"Radeon RX 7900 XTX", "Radeon RX 7900 XT", "Radeon RX 7900 GRE", "Pro W7900", "Pro W7800"},
		"Radeon RX 6800/6800 XT/6900 XT":                 {"Radeon RX 6800", "Radeon RX 6800 XT", "Radeon RX 6900 XT"},
		"Radeon 780M/760M/740M (Phoenix; Hawk Point)":    {"Radeon 780M", "Radeon 760M", "Radeon 740M"},
		"Radeon RX Vega 56/64; Instinct MI25":            {"Radeon RX Vega 56", "Radeon RX Vega 64", "Instinct MI25"},
		"Radeon RX 9070 XT/9070; AI PRO R9700":           {"Radeon RX 9070 XT", "Radeon RX 9070", "AI PRO R9700"},
		"Radeon VII; Radeon Pro VII; Instinct MI50/MI60": {"Radeon VII", "Radeon Pro VII", "Instinct MI50", "Instinct MI60"},
	} {
		if d := cmp.Diff(want, products(text)); d != "" {
			t.Errorf("%s (-want +got)\n%s", text, d)
		}
	}
}

// TestMerge: several libraries of one wheel become one list that says the same,
// stray cubins do not count.
func TestMerge(t *testing.T) {
	native, ptx, err := merge([]row{
		{"counts": "70:34 75:1000 80:1000 90a:900 ptx90:900", "ptx_list": "90"},
		{"counts": "75:100 80:100 90:100 100:100 ltoir:5000 ptx100:100", "ptx_list": "100"},
	})
	if err != nil || native != "75 80 90a" || ptx != "90" {
		t.Errorf("%q %q %v", native, ptx, err)
	}
}
