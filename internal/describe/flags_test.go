package describe

import (
	"slices"
	"testing"
)

// Every flag that is read into a request comes back, from the words and from what was
// read of them.
func TestEveryFlagComesBack(t *testing.T) {
	values := map[string]string{"python": "3.12", "cuda": "12.6", "build": "cu126", "manager": "pip", "as-named": "numpyy", "relax": "torch",
		"allow-url": "flash-attn", "only-index": "pytorch", "channel": "nightly", "gpus": "0,2"}
	for i := range Fields(&Request{}) {
		var w Request
		f := Fields(&w)[i]
		want := []string{"--" + f.Name}
		switch field := f.Value.(type) {
		case *bool:
			*field = true
		case *string:
			*field = values[f.Name]
		case *[]string:
			*field = []string{values[f.Name]}
		}
		if v := values[f.Name]; v != "" {
			want = append(want, v)
		}
		r, err := w.Parse()
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if got := w.Args(); !slices.Equal(got, want) {
			t.Errorf("said %q, comes back as %q", want, got)
		}
		if got := Words(r).Args(); !slices.Equal(got, want) {
			t.Errorf("read from %q, comes back as %q", want, got)
		}
	}
}
