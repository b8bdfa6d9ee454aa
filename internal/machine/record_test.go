package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadRecord(t *testing.T) {
	got := ReadRecord([]byte("a/b.py,sha256=x,12\r\n\"a, \"\"b\"\".py\",sha256=y,3\n../../bin/tool,,\ncut off"))
	want := []RecordFile{{"a/b.py", "sha256=x", 12}, {`a, "b".py`, "sha256=y", 3}, {"../../bin/tool", "", 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"a.pth": true, "b.py": true, "c.py": false} {
		if got := Lists([]byte("a.pth,sha256=x,1\nb.py,,\npkg/c.py,,\n"), name); got != want {
			t.Errorf("%s is listed: %v", name, got)
		}
	}
}

// The order of RECORD and what installers add to it do not count; code does.
func TestCodeDigest(t *testing.T) {
	digest := func(text string) string { return CodeDigest(ReadRecord([]byte(text))) }
	whole := digest("a.py,sha256=x,1\nb.so,sha256=y,2\n")
	for text, same := range map[string]bool{
		"b.so,sha256=y,2\na.py,sha256=x,1\na-1.dist-info/INSTALLER,sha256=z,4\n../../bin/a,sha256=q,3\n__pycache__/a.pyc,,\n": true,
		"a.py,sha256=x,1\nb.so,sha256=other,2\n":                  false,
		"a.py,sha256=x,1\n":                                       false,
		"evil.pth,sha256=e,1\na.py,sha256=x,1\nb.so,sha256=y,2\n": false,
	} {
		if got := digest(text); (got == whole) != same {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := digest("a-1.dist-info/METADATA,sha256=x,1\nb.py,,\n"); got != "" {
		t.Errorf("no code with a hash: %s", got)
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add([]byte("a/b.py,sha256=x,12\n\"a,b\",,\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range ReadRecord(b) {
			if r.Size < 0 {
				t.Errorf("%+v", r)
			}
		}
		CodeDigest(ReadRecord(b))
	})
}
