package doctor

import (
	"testing"

	"envfix/internal/version"
)

// TestImported: what Python says is compared with what the files say.
func TestImported(t *testing.T) {
	for _, c := range []struct {
		name, check string // "": nothing but notes
		imported    Imported
	}{
		{"the same", "", Imported{Torch: "2.9.1+cu128", CUDA: "12.8", CuDNN: version.MustDotted("9.10.2")}},
		{"another torch", "PY011", Imported{Torch: "2.8.0+cu128"}},
		{"another cuDNN", "LD002", Imported{Torch: "2.9.1+cu128", CuDNN: version.MustDotted("9.1.0")}},
		{"no import", "PY011", Imported{Failed: "ImportError: something new"}},
	} {
		p := patientWith(t, healthyFiles())
		p.Imported = &c.imported
		r := Embedded().Examine(p)
		if c.check == "" && !r.OK || c.check != "" && (r.OK || r.Findings[0].Check != c.check) {
			t.Errorf("%s: %+v", c.name, r.Findings)
		}
	}
}
