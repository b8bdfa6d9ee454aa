package matrix

import (
	"testing"

	"envfix/data"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"envfix/internal/version"
)

// same compares two matrices by what they say.
var same = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreUnexported(Matrix{}),
	cmpopts.IgnoreFields(Build{}, "Release"),
	cmp.Comparer(func(a, b version.Dotted) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b version.Python) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b version.Specifier) bool { return a.String() == b.String() }),
}

// TestCompiled keeps the compiled form equal to the YAML.
func TestCompiled(t *testing.T) {
	want, err := Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	got := decompile(data.Compiled, want.SHA256)
	if got == nil {
		t.Fatal("data/compiled.bin is not of these files: run `go generate ./data`")
	}
	if d := cmp.Diff(want, got, same); d != "" {
		t.Error("(-YAML +compiled)\n" + d)
	}
	for _, r := range got.Releases {
		for _, b := range r.Builds {
			if b.Release != r {
				t.Fatalf("%s %s has lost its release", r.Torch, b.Label)
			}
		}
	}
}

func TestDecompileRefuses(t *testing.T) {
	m, err := Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	good, err := Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	if decompile(good, m.SHA256) == nil {
		t.Fatal("what was compiled is not read back")
	}
	if decompile(good, "00") != nil || decompile(nil, m.SHA256) != nil || decompile(append(good, 0), m.SHA256) != nil {
		t.Error("a compiled form of other files, none, or one with a tail was read")
	}
	for n := 0; n < len(good); n += 997 {
		if decompile(good[:n], m.SHA256) != nil {
			t.Errorf("%d of %d bytes were read", n, len(good))
		}
	}
}

func FuzzDecompile(f *testing.F) {
	m, err := Load(data.FS)
	if err != nil {
		f.Fatal(err)
	}
	good, err := Compile(m)
	if err != nil {
		f.Fatal(err)
	}
	head := len(compiledMagic) + 8 + 32
	f.Add(good[head : head+2000])
	f.Fuzz(func(t *testing.T, tail []byte) {
		decompile(append(good[:head:head], tail...), m.SHA256)
	})
}
