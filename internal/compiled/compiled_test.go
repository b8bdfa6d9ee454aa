package compiled

import (
	"strings"
	"testing"

	"envfix/internal/version"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Name  string
	Codes []string
}

type everything struct {
	Text    string
	Yes     bool
	Number  int
	Dotted  version.Dotted
	Python  version.Python
	Range   version.Specifier
	List    []inner
	Pointer *inner
	None    *inner
	Byname  map[string][]string
	Bynum   map[int]string
	Left    int `compiled:"-"`
	private int
}

var versions = cmp.Options{
	cmp.Comparer(func(a, b version.Dotted) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b version.Python) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b version.Specifier) bool { return a.String() == b.String() }),
	cmp.AllowUnexported(everything{}),
}

func sample() everything {
	spec, err := version.ParseSpecifier(">=2.6,<3")
	if err != nil {
		panic(err)
	}
	codes := []string{"8.0", "9.0a"}
	return everything{
		Text: "größer", Yes: true, Number: -300, Dotted: version.MustDotted("580.65.06"), Python: version.MustPython("2.9.1"), Range: spec,
		List:    []inner{{"a", codes}, {"b", codes}, {"c", nil}, {"", []string{"9.0a", "8.0"}}},
		Pointer: &inner{Name: "p"},
		Byname:  map[string][]string{"x": codes, "y": {"z"}, "": nil},
		Bynum:   map[int]string{79: "fell off", -1: "", 1 << 20: "far"},
	}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	want.Left, want.private = 0, 0
	blob := string(Encode(func() everything { e := sample(); e.Left, e.private = 7, 7; return e }(), [32]byte{1}))
	var got everything
	if err := Decode(blob, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, versions); d != "" {
		t.Error("(-before +after)\n" + d)
	}
	if again := Encode(sample(), [32]byte{1}); string(again) != blob {
		t.Error("the same value gives another blob")
	}
}

// TestDecodeHead reads the first field alone.
func TestDecodeHead(t *testing.T) {
	blob := string(Encode(struct {
		Name string
		Rest map[string]int
	}{"first", map[string]int{"x": 1}}, [32]byte{}))
	var head struct{ Name string }
	if err := DecodeHead(blob, &head); err != nil || head.Name != "first" {
		t.Errorf("%q, %v", head.Name, err)
	}
	if err := Decode(blob, &head); err == nil {
		t.Error("Decode left the rest and said nothing")
	}
	if err := DecodeHead(blob[:headSize], &head); err == nil {
		t.Error("a blob without a value was read")
	}
}

func TestOf(t *testing.T) {
	blob := string(Encode(sample(), [32]byte{1}))
	if !Of(blob, everything{}, [32]byte{1}) {
		t.Error("its own types and files are not recognised")
	}
	if Of(blob, everything{}, [32]byte{2}) || Of(blob, inner{}, [32]byte{1}) || Of(blob[:20], everything{}, [32]byte{1}) || Of("", everything{}, [32]byte{}) {
		t.Error("other files, other types, a part, or nothing is taken for it")
	}
}

// TestDecodeRefuses: no part of a blob is taken for one, and none makes a panic or
// a large allocation.
func TestDecodeRefuses(t *testing.T) {
	blob := string(Encode(sample(), [32]byte{}))
	var v everything
	for n := range len(blob) {
		if Decode(blob[:n], &v) == nil {
			t.Errorf("%d of %d bytes were read", n, len(blob))
		}
	}
	if Decode(blob+"x", &v) == nil {
		t.Error("a blob with a tail was read")
	}
	if Decode(blob[:headSize]+strings.Repeat("\xff", 40), &v) == nil {
		t.Error("counts beyond the end were believed")
	}
}

func FuzzDecode(f *testing.F) {
	blob := string(Encode(sample(), [32]byte{}))
	f.Add(blob[headSize:])
	f.Fuzz(func(t *testing.T, tail string) {
		var v everything
		_ = Decode(blob[:headSize]+tail, &v)
	})
}
