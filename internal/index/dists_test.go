package index

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/testindex"
)

// What releases require is read from their METADATA alone: extras count for nothing, a
// release without a wheel says so, and what is known is not read again.
func TestDistsOf(t *testing.T) {
	wheel := func(v, tag string, requires ...string) testindex.Wheel {
		return testindex.Wheel{Name: "ext", Version: v, Tag: tag, Requires: requires}
	}
	x := testindex.Serve(t,
		wheel("2.0", "py3-none-any", "torch (<2.9,>=2.1)", "tqdm", `torchaudio ; sys_platform == "linux"`, "torchvision; extra == 'all'"),
		wheel("1.1", "cp310-cp310-manylinux_2_28_x86_64", "torch==2.1.2"), wheel("1.1", "cp310-cp310-win_amd64", "torch>=2.0"),
		testindex.Wheel{Name: "ext", Version: "1.1", Sdist: true},
		testindex.Wheel{Name: "ext", Version: "1.0", Sdist: true},
		wheel("0.9", "py3-none-any", "torch"), wheel("2.1rc1", "py3-none-any", "torch"),
	)
	c, err := New(x.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	keep := func(r pep508.Requirement) (pep508.Requirement, bool) { return r, strings.HasPrefix(r.Name, "torch") }
	dists, err := c.DistsOf(t.Context(), "ext", "2000-01-01", func(v string) bool { return v == "0.9" }, keep)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range dists {
		var files []string
		for _, f := range d.Files {
			files = append(files, strings.TrimSpace(fmt.Sprint(f.OS, " ", f.Tags, " ", f.Glibc, " ", f.Sdist)))
		}
		got[d.Versions[0]] = fmt.Sprintf("%q %q %v", d.Requires, files, d.Unread)
	}
	want := map[string]string{
		"2.0": `["torch<2.9,>=2.1" "torchaudio; sys_platform == 'linux'"] [] false`,
		"1.1": `["torch==2.1.2"] ["linux cp310 2.28 false" "windows cp310  false" "true"] false`,
		"1.0": `[] ["true"] false`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
