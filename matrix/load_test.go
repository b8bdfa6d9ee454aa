package matrix

import "testing"

func TestEmbedded(t *testing.T) {
	m, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range m.Releases {
		n += len(r.Builds)
	}
	if len(m.Releases) != 32 || n != 434 {
		t.Errorf("%d releases with %d builds, want 32 with 434", len(m.Releases), n)
	}
}
