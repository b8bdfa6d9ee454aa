package matrix

import (
	"testing"
	"testing/fstest"

	"envfix/data"
)

func TestCheckEmbedded(t *testing.T) {
	for _, f := range Check(data.FS) {
		t.Error(f)
	}
}

// TestCheckStale: a compiled form of other files is a fault, none is not.
func TestCheckStale(t *testing.T) {
	fsys := changed(t, "matrix.yaml", "format", "format")
	m, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	for date, want := range map[string]int{"2026-11-21": 0, "2026-11-22": 1} {
		fsys = changed(t, "matrix.yaml", "2026-11-21", date)
		fsys["matrix.bin"] = &fstest.MapFile{Data: blob}
		if m, err = Load(fsys); err != nil {
			t.Fatal(err)
		}
		if faults := checkCompiled(fsys, m); len(faults) != want {
			t.Errorf("%s: %v", date, faults)
		}
	}
}
