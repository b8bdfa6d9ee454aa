package matrix

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// What the releases of packages say of themselves: their METADATA and the names of
// their files. There are thousands and a plan asks about few, so they are kept as text
// and read when they are asked for.

// Dists are the releases of one package on the default index.
type Dists struct {
	Package string
	Rows    string // a line for each group of releases: versions, Requires-Python, requirements and files, parted by tabs
	Proof   Proof
	Source  string
}

// A Dist is a group of releases of a package that say the same.
type Dist struct {
	Package  string
	Versions []string          // as the index writes them, newest first
	Python   version.Specifier // Requires-Python
	Requires []string          // Requires-Dist without extras: those on packages that the data decides by
	Files    []Files           // empty: a wheel for every system
	Unread   bool              // releases that nobody read, of which Versions names one
	Source   string
}

// Newest is the newest release of the group.
func (d Dist) Newest() version.Python {
	v, _ := version.ParsePython(d.Versions[0])
	return v
}

// DistsOf returns the groups of a package's releases, the newest first and what nobody
// read last; none: nobody looked.
func (m *Matrix) DistsOf(pkg string) []Dist {
	all, _ := m.RowsOf(pkg)
	var out []Dist
	for _, row := range all.Split() {
		out = append(out, all.Read(row))
	}
	return out
}

// RowsOf returns the releases of a package as text, for who asks about few of them; false:
// nobody looked.
func (m *Matrix) RowsOf(pkg string) (Dists, bool) {
	i, found := slices.BinarySearchFunc(m.Dists, pkg, func(d Dists, name string) int { return strings.Compare(d.Package, name) })
	if !found {
		return Dists{}, false
	}
	return m.Dists[i], true
}

// HasDists reports whether somebody looked at the releases of a package.
func (m *Matrix) HasDists(pkg string) bool {
	_, found := m.RowsOf(pkg)
	return found
}

// Split returns the rows of the groups, in the order of DistsOf.
func (d Dists) Split() []string {
	if d.Rows == "" {
		return nil
	}
	return strings.Split(d.Rows, "\n")
}

// Read reads one row.
func (d Dists) Read(row string) Dist {
	out := readDist(d.Package, row)
	out.Source = d.Source
	return out
}

func readDist(pkg, row string) Dist {
	f := append(strings.Split(row, "\t"), "", "", "")
	d := Dist{Package: pkg, Versions: strings.Fields(f[0])}
	d.Python, _ = version.ParseSpecifier(f[1]) // Load checked it
	d.Requires = parted(f[2], " | ")
	if d.Unread = f[3] == "unread"; d.Unread {
		return d
	}
	for _, t := range parted(f[3], "; ") {
		file, _ := readFileGroup(t)
		file.Package, file.Versions = pkg, f[0]
		d.Files = append(d.Files, file)
	}
	return d
}

func parted(s, by string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, by)
}

// readFileGroup reads "linux-x86_64 cp310 cp311 glibc2.17", "any py3" or "sdist".
func readFileGroup(t string) (Files, error) {
	words := strings.Fields(t)
	if len(words) == 0 {
		return Files{}, fmt.Errorf("an empty group of files")
	}
	if words[0] == "sdist" {
		return Files{Sdist: true}, nil
	}
	f := Files{}
	if words[0] != "any" {
		f.OS, f.Arch, _ = strings.Cut(words[0], "-")
	}
	var tags []string
	for _, w := range words[1:] {
		var err error
		switch {
		case strings.HasPrefix(w, "glibc"):
			f.Glibc, err = version.ParseDotted(w[len("glibc"):])
		case strings.HasPrefix(w, "musl"):
			f.Musl, err = version.ParseDotted(w[len("musl"):])
		case strings.HasPrefix(w, "macos"):
			f.MacOS, err = version.ParseDotted(w[len("macos"):])
		case tagAdmits(w, oldestOf(w)):
			tags = append(tags, w)
		default:
			err = fmt.Errorf("%q is not such as cp312, cp39-abi3, py3, glibc2.28", text.Cut(w, 60))
		}
		if err != nil {
			return f, err
		}
	}
	f.Tags = strings.Join(tags, " ")
	return f, nil
}

// fileGroup writes what readFileGroup reads.
func fileGroup(f Files) string {
	if f.Sdist {
		return "sdist"
	}
	words := []string{cmp.Or(strings.TrimSuffix(f.OS+"-"+f.Arch, "-"), "any"), f.Tags}
	for _, x := range []struct{ key, value string }{{"glibc", f.Glibc.String()}, {"musl", f.Musl.String()}, {"macos", f.MacOS.String()}} {
		if x.value != "" {
			words = append(words, x.key+x.value)
		}
	}
	return strings.Join(words, " ")
}

// Fit reports whether a release of the group has a file for an interpreter on a system.
func (d Dist) Fit(python string, p machine.Platform) Fit {
	number, err := version.ParsePython(strings.TrimSuffix(python, "t"))
	if err == nil && !d.Python.IsZero() && !d.Python.Admits(newestPatch(number)) {
		return FitNone
	}
	if len(d.Files) == 0 {
		return FitWheel
	}
	best := FitNone
	for i := range d.Files {
		switch f := &d.Files[i]; {
		case f.Sdist:
			best = max(best, FitSource)
		case f.onPlatform(p) && (python == "" || f.loadsIn(python)):
			return FitWheel
		}
	}
	return best
}

// newestPatch is the newest release of a minor one: >=3.9.1 admits Python 3.9.
func newestPatch(v version.Python) version.Python {
	w, err := version.ParsePython(v.String() + ".99")
	if err != nil || strings.Count(v.String(), ".") != 1 {
		return v
	}
	return w
}

// readDists reads one group of releases; those of a package stand together.
func readDists(r *rowReader, o object, m *Matrix) {
	name, row := o.text("package"), []string{"", o.specifier("python").String(), o.text("requires"), o.text("files")}
	var versions []string
	for _, v := range o.pythons("versions") {
		versions = append(versions, v.String())
	}
	row[0] = strings.Join(versions, " ")
	if o.yes("unread") {
		row[3] = "unread"
	}
	at := r.place(o)
	for _, t := range parted(strings.TrimPrefix(row[3], "unread"), "; ") {
		if _, err := readFileGroup(t); err != nil {
			o.s.fault(o.line, "files: %v", err)
		}
	}
	if len(versions) == 0 || name == "" || strings.Contains(strings.Join(row, ""), "\t") {
		o.s.fault(o.line, "releases have a package and versions, and no tab")
	}
	line := strings.TrimRight(strings.Join(row, "\t"), "\t")
	if i := len(m.Dists) - 1; i >= 0 && m.Dists[i].Package == name {
		m.Dists[i].Rows += "\n" + line
		r.proof(o)
		return
	}
	m.Dists = append(m.Dists, Dists{Package: name, Rows: line, Proof: r.proof(o), Source: at})
}

// dists checks what DistsOf relies on: packages in the order of their names, once each.
func (c *checker) dists() {
	for i, d := range c.m.Dists {
		if i > 0 && c.m.Dists[i-1].Package >= d.Package {
			c.fault(d.Source, "%s: packages stand in the order of their names", text.Cut(d.Package, 60))
		}
	}
}

// DistsFile is the file of data/ that EncodeDists writes.
const DistsFile = "dists.yaml"

// EncodeDists writes groups of releases, each of one release or of several, packages in
// the order of their names and of each the newest first; those that say the same become
// one.
func EncodeDists(groups []Dist, day string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# What the releases of packages that people install beside torch, TensorFlow and JAX
# require, by their METADATA, without extras: of packages that the data decides by; and
# their files, where they are no wheel for every system. Pre-releases are left out.
# unread: there are releases of which the index serves no METADATA, such as this one.
# Written by: envfix matrix harvest --dists data
format: 1
proof: metadata

sources:
  index: "METADATA and names of the files on the default index, read until %s"

dists:
`, day)
	for _, d := range grouped(groups) {
		fmt.Fprintf(&b, "- {package: %q, source: index", d.Package)
		var files []string
		for _, f := range d.Files {
			files = append(files, fileGroup(f))
		}
		for _, x := range []struct{ key, value string }{
			{"python", d.Python.String()}, {"requires", strings.Join(d.Requires, " | ")}, {"files", strings.Join(files, "; ")}} {
			if x.value != "" {
				fmt.Fprintf(&b, ", %s: %q", x.key, x.value)
			}
		}
		if d.Unread {
			b.WriteString(", unread: true")
		}
		fmt.Fprintf(&b, ", versions: %q}\n", strings.Join(d.Versions, " "))
	}
	return b.Bytes()
}

func grouped(groups []Dist) []Dist {
	var out []Dist
	at := map[string]int{}
	for _, d := range groups {
		key := fmt.Sprintf("%s\t%s\t%q\t%v", d.Package, d.Python, d.Requires, d.Unread)
		for _, f := range d.Files {
			key += "\t" + fileGroup(f)
		}
		if i, ok := at[key]; ok {
			out[i].Versions = append(slices.Clone(out[i].Versions), d.Versions...)
			continue
		}
		at[key] = len(out)
		out = append(out, d)
	}
	for i := range out {
		slices.SortFunc(out[i].Versions, newerText)
		if out[i].Unread {
			out[i].Versions = out[i].Versions[:1]
		}
	}
	slices.SortStableFunc(out, func(a, b Dist) int {
		if a.Package == b.Package && a.Unread != b.Unread {
			return map[bool]int{true: 1, false: -1}[a.Unread]
		}
		return cmp.Or(strings.Compare(a.Package, b.Package), newerText(a.Versions[0], b.Versions[0]))
	})
	return out
}

// newerText orders versions, the newest first.
func newerText(a, b string) int {
	v, _ := version.ParsePython(a)
	w, _ := version.ParsePython(b)
	return w.Compare(v)
}
