package matrix

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/version"
)

var update = flag.Bool("update", false, "rewrite testdata/rows.txt")

// rowCounts counts the rows of every table, by package or label where it has one.
func rowCounts(m *Matrix, t *DeviceTable) map[string]int {
	n := map[string]int{
		"releases": len(m.Releases), "floors": len(m.Floors), "driver branches": len(m.Branches), "toolkits": len(m.Toolkits),
		"components": len(m.Components), "capabilities": len(m.Arches), "cubin rules": len(m.CubinRules),
		"vendor indexes": len(m.VendorIndexes), "forward compatibility": len(m.ForwardCompat),
		"commands": len(m.Commands), "brackets": len(m.Brackets), "needs": len(m.Needs),
		"backends": len(m.Backends), "frameworks": len(m.Frameworks), "elsewhere": len(m.Elsewhere), "known": len(m.Known),
	}
	for _, r := range m.Releases {
		n["builds of "+r.Torch.String()] = len(r.Builds)
	}
	for _, l := range m.Libraries {
		n[fmt.Sprintf("library %s cu%d %s", l.Package, l.Major, l.Arch)]++
	}
	for _, p := range m.Ptxas {
		n["ptxas "+p.Arch]++
	}
	for _, e := range m.Extensions {
		n["extension "+e.Package]++
	}
	for _, f := range m.Files {
		n["files of "+f.Package]++
	}
	for _, d := range m.Defects {
		n["defect "+d.Package]++
	}
	for _, c := range m.Conda {
		n["conda "+c.Channel]++
	}
	for _, g := range m.ROCm {
		n["gfx targets of "+g.Label]++
	}
	for row := range strings.Lines(t.text + t.names) {
		kind, _, _ := strings.Cut(row, "\t")
		if vendor, _, ok := strings.Cut(kind, ":"); ok {
			kind = "id " + vendor
		}
		if !strings.HasPrefix(row, "#") {
			n["device "+kind]++
		}
	}
	return n
}

// TestNothingIsLost: no table has fewer rows than testdata/rows.txt says. More is
// fine; where a row goes on purpose, -update writes the file again, and a reviewer
// sees which.
func TestNothingIsLost(t *testing.T) {
	const file = "testdata/rows.txt"
	counts := rowCounts(embedded(t), deviceTable(t))
	if *update {
		var b bytes.Buffer
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, "%d %s\n", counts[k], k)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := fmt.Sscan(line, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if counts[name] < n {
			t.Errorf("%s: %d rows, and %d before", name, counts[name], n)
		}
	}
}

// maxLines is what a person reviews in one file: a screen is 50 lines, and a
// reviewer's care ends well before ten of them. A row is one line, however many
// versions it stands for. Of a table that a command of envfix writes, the change is
// reviewed, and the command can write it again: there it is more.
const (
	maxLines   = 400
	maxWritten = 1000
)

// long are the files of the doctor, which come in hundreds of entries, and a table
// that a program wrote: those are searched, not read from top to bottom.
var long = []string{"catalogue.txt", "checks.yaml", "classes.yaml", "clues.yaml", "messages.yaml", "devices.tsv"}

// TestReviewable: the files of the data are short.
func TestReviewable(t *testing.T) {
	err := fs.WalkDir(data.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || slices.Contains(long, name) {
			return err
		}
		text, err := fs.ReadFile(data.FS, name)
		most := maxLines
		if bytes.Contains(text, []byte("\n# Written by: envfix ")) {
			most = maxWritten
		}
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("data/%s has %d lines; at most %d: part it", name, n, most)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withNewMinor is the data with one more minor of torch, a copy of the newest
// under the next number.
func withNewMinor(t *testing.T, m *Matrix) (fsys fstest.MapFS, release string) {
	t.Helper()
	fsys = fstest.MapFS{}
	err := fs.WalkDir(data.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(data.FS, name)
		fsys[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	newest := m.Releases[0].Torch.String()
	var major, minor int
	if _, err := fmt.Sscanf(newest, "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	from, to := fmt.Sprintf("%d.%d", major, minor), fmt.Sprintf("%d.%d", major, minor+1)
	text := string(fsys[path.Join("torch", from+".yaml")].Data)
	text = strings.ReplaceAll(text, `torch: "`+from, `torch: "`+to)
	text = strings.ReplaceAll(text, "proof: wheel", "proof: inferred") // nobody read its files
	fsys[path.Join("torch", to+".yaml")] = &fstest.MapFile{Data: []byte(text)}
	return fsys, strings.Replace(newest, from, to, 1)
}

// TestNewMinor: a new PyTorch release is one file.
func TestNewMinor(t *testing.T) {
	m := embedded(t)
	fsys, release := withNewMinor(t, m)
	for _, f := range Check(fsys) {
		t.Error(f)
	}
	grown, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := grown.Releases[0].Torch.String(); got != release || len(grown.Releases) <= len(m.Releases) {
		t.Errorf("the newest of %d releases is %s, want %s", len(grown.Releases), got, release)
	}
	text, err := Compile(grown)
	if err != nil {
		t.Fatal(err)
	}
	again := Decompile(string(text), grown.SHA256)
	if again == nil || again.Releases[0].Torch.Compare(version.MustPython(release)) != 0 {
		t.Error("the grown matrix is not read back from its compiled form")
	}
}
