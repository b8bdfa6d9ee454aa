package main

import (
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/machine"

	"github.com/google/go-cmp/cmp"
)

// TestMachinesGolden: the recorded machines are facts as `envfix facts --json
// --anonymize` writes them, to the byte. -update brings one that was written by
// hand to that form.
func TestMachinesGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/machines/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no machines: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := machine.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got := m.Anonymize().Encode()
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(data), string(got)); diff != "" {
			t.Errorf("%s (-file +encoded); -update rewrites it:\n%s", file, diff)
		}
	}
}
