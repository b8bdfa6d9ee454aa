package matrix

import (
	"strings"
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

// TestCompiled keeps the compiled forms equal to the files.
func TestCompiled(t *testing.T) {
	want, err := Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	got := Decompile(data.Matrix, want.SHA256)
	if got == nil {
		t.Fatal("data/matrix.bin is not of these files: run `go generate ./data`")
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
	devices, err := CompileDevices(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	if string(devices) != data.Devices {
		t.Error("data/devices.bin is not of these files: run `go generate ./data`")
	}
}

// TestDecompileRefuses: a compiled matrix of other files is none.
func TestDecompileRefuses(t *testing.T) {
	m, err := Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	if Decompile(good, m.SHA256) == nil {
		t.Fatal("what was compiled is not read back")
	}
	other := strings.Repeat("0", 64)
	if Decompile(good, "00") != nil || Decompile(good, other) != nil || Decompile("", m.SHA256) != nil || Decompile(good+"0", m.SHA256) != nil {
		t.Error("a compiled form of other files, none, or one with a tail was read")
	}
	for n := 0; n < len(good); n += 997 {
		if Decompile(good[:n], m.SHA256) != nil {
			t.Errorf("%d of %d bytes were read", n, len(good))
		}
	}
	if _, err := Compile(&Matrix{}); err == nil {
		t.Error("a matrix of no files was compiled")
	}
}

// TestEmbeddedHead: the head alone is that of the whole.
func TestEmbeddedHead(t *testing.T) {
	if h := EmbeddedHead(); h.Version == "" || h.Version != embedded(t).Version || h.Date != embedded(t).Date {
		t.Errorf("%+v; want %q", h, embedded(t).Version)
	}
}
