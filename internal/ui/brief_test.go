package ui

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// Of many warnings the three that are shown are those that stop who follows the plan.
func TestStopsFirst(t *testing.T) {
	in := []string{"cuSPARSELt has practically no code below 8.0", "requirements.txt: the channel x is not followed", "only a source distribution is there of a 1 (pure Python): …",
		"the project itself is not installed: to build it takes torch", "only a source distribution is there of b 1 (building needs a compiler): …"}
	want := []string{in[3], in[4], in[1], in[0], in[2]}
	if got := stopsFirst(in, false); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := stopsFirst(in, true); got[0] != in[0] {
		t.Errorf("the reason for the CPU comes after %q", got[0])
	}
}

// Each word by which a warning is known stands in one that is printed.
func TestStopsAreSaid(t *testing.T) {
	var said strings.Builder
	for _, room := range []string{"../../internal", "../../resolver", "../../data", "../../cmd/envfix"} {
		err := fs.WalkDir(os.DirFS(room), ".", func(path string, e fs.DirEntry, err error) error {
			source := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && path != "ui/brief.go"
			if err != nil || !source && !strings.HasSuffix(path, ".yaml") {
				return err
			}
			b, err := os.ReadFile(room + "/" + path)
			said.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range slices.Concat(stops, idle) {
		if !strings.Contains(said.String(), strings.Trim(words, "(): ")) {
			t.Errorf("nothing says %q", words)
		}
	}
}
