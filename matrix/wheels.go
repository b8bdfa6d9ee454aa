package matrix

import (
	"bytes"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// WheelsFile is the file of data/ that [Wheels] reads. Only `envfix matrix prove`
// needs it, so loading a matrix leaves it alone.
const WheelsFile = "wheels.yaml"

// A WheelSet is all wheels of one release on one platform of the default index.
type WheelSet struct {
	Torch    string
	OS, Arch string
	Count    int
	Bytes    int64  // of all of them together
	SHA256   string // of the lines that sha256sum prints for them, in the order of their names
	line     int
}

// Wheels reads the sets of wheels of a matrix. The faults are those of form.
func Wheels(fsys fs.FS) ([]WheelSet, []Fault) {
	text, err := readFile(fsys, WheelsFile)
	if err != nil {
		return nil, []Fault{{File: "data/" + WheelsFile, Text: err.Error()}}
	}
	s := &source{file: "data/" + WheelsFile}
	var sets []WheelSet
	if o, _, ok := s.open(text); ok {
		seen := map[[3]string]bool{}
		o.list("wheels", func(row object) {
			w := readWheelSet(row)
			key := [3]string{w.Torch, w.OS, w.Arch}
			if seen[key] {
				s.fault(row.line, "torch %s on %s %s is there twice", w.Torch, w.OS, w.Arch)
			}
			seen[key] = true
			sets = append(sets, w)
		})
		o.done()
	}
	return sets, s.faults
}

func readWheelSet(o object) WheelSet {
	w := WheelSet{Torch: o.python("torch").String(), OS: "linux", Arch: o.one("arch", "x86_64", "aarch64", "arm64"), Count: o.number("count")}
	if o.has("os") {
		w.OS = o.one("os", "windows", "macos")
	}
	size, line := o.scalar("bytes", false)
	var err error
	if w.Bytes, err = strconv.ParseInt(size, 10, 64); err != nil || w.Bytes <= 0 {
		o.s.fault(line, "bytes: %q is not a size", text.Cut(size, 60))
	}
	w.line = o.line
	w.SHA256, line = o.scalar("sha256", true)
	if len(w.SHA256) != 64 {
		o.s.fault(line, "sha256: %q is none", text.Cut(w.SHA256, 60))
	}
	o.done()
	return w
}

// checkWheels holds the proofs of the builds against the files that were read: a release
// that was made of another one's rows has a proof that nobody gave, or its hashes. Of
// releases older than all of them the files were not written down.
func checkWheels(fsys fs.FS, m *Matrix) []Fault {
	if _, err := fs.Stat(fsys, WheelsFile); err != nil {
		return nil
	}
	sets, faults := Wheels(fsys)
	c := &checker{m: m, faults: faults}
	of := map[string]string{} // hash: release
	read := map[[3]string]bool{}
	var oldest version.Python
	for _, w := range sets {
		if other := of[w.SHA256]; other != "" {
			c.fault(fmt.Sprintf("data/%s:%d", WheelsFile, w.line), "the files of torch %s have the hash of those of torch %s", w.Torch, other)
		}
		of[w.SHA256] = w.Torch
		read[[3]string{w.Torch, w.OS, w.Arch}] = true
		if v, err := version.ParsePython(w.Torch); err == nil && (oldest.IsZero() || v.Compare(oldest) < 0) {
			oldest = v
		}
	}
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			if b.Default && b.OS == "linux" && b.Proof == ByWheel && r.Torch.Compare(oldest) >= 0 && !read[[3]string{r.Torch.String(), b.OS, b.Arch}] {
				c.fault(b.Source, "%s is proven by its wheels, and %s knows none of torch %s for %s %s", b.Label, WheelsFile, r.Torch, b.OS, b.Arch)
			}
		}
	}
	return c.faults
}

// EncodeWheels writes the file that [Wheels] reads.
func EncodeWheels(sets []WheelSet) []byte {
	var b bytes.Buffer
	b.WriteString(`# The wheels of torch on the default index, one row per release and platform
# (Linux where none is named); of wheels built twice the one that installers take. sha256 is that
# of what sha256sum prints for the files in the order of their names.
# Written by: envfix matrix prove --record data
format: 1

wheels:
`)
	for _, w := range sets {
		os := say.If(w.OS != "linux", "os: "+w.OS+", ")
		fmt.Fprintf(&b, "- {torch: %q, %sarch: %q, count: %d, bytes: %d, sha256: %q}\n", w.Torch, os, w.Arch, w.Count, w.Bytes, w.SHA256)
	}
	return b.Bytes()
}

// StackFile is the file of data/ that EncodeLibraries writes.
const StackFile = "stack.yaml"

// EncodeLibraries writes rows of libraries that were read from their wheels.
// Versions of which the same is known share a row.
func EncodeLibraries(rows []Library, day string) []byte {
	var sets, order []string
	names, versions := map[string]string{}, map[string][]string{}
	for _, l := range rows {
		code := fmt.Sprintf("{arch: %q, proof: wheel, source: bytes, cubins: %q", l.Arch, Codes(l.Native))
		if len(l.PTX) > 0 {
			code += fmt.Sprintf(", ptx: %q", Codes(l.PTX))
		}
		if names[code] == "" {
			names[code] = fmt.Sprintf("c%d", len(sets)+1)
			sets = append(sets, code)
		}
		key := fmt.Sprintf("{use: %s, package: %s, cuda: %d", names[code], l.Package, l.Major)
		if versions[key] == nil {
			order = append(order, key)
		}
		versions[key] = append(versions[key], l.Version.String())
	}
	sort.Strings(order)
	var b bytes.Buffer
	fmt.Fprintf(&b, `# More of libraries.yaml, the shortest list of code that says which GPUs are served.
# Written by: envfix matrix prove --missing --record data
format: 1

sources:
  bytes: "fatbin entries counted in the wheels of the default index, %s"

sets:
`, day)
	for _, code := range sets {
		fmt.Fprintf(&b, "  %s: %s}\n", names[code], code)
	}
	b.WriteString("\nlibraries:\n")
	for _, key := range order {
		fmt.Fprintf(&b, "- %s, versions: %q}\n", key, strings.Join(versions[key], " "))
	}
	return b.Bytes()
}

// Codes are some codes as the data writes them: "8.0 9.0a".
func Codes(codes []Code) string { return strings.Join(text.Each(codes, Code.String), " ") }

// FilesFile is the file of data/ that EncodeFiles writes.
const FilesFile = "files.yaml"

// EncodeFiles writes which files the default index has of the packages beside
// torch.
func EncodeFiles(rows []Files, day string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Which files the default index has of packages beside torch, by version: the
# platform, the tags of Pythons (cp39-abi3: any CPython from 3.9 on), the oldest
# glibc, musl or macOS, Requires-Python. Yanked files and pre-releases are left out.
# Written by: envfix matrix harvest --files data
format: 1
proof: metadata

sources:
  index: "names of the files on the default index, %s"

files:
`, day)
	for _, f := range rows {
		fmt.Fprintf(&b, "- {package: %q, source: index, versions: %q", f.Package, f.Versions)
		for _, x := range []struct{ key, value string }{
			{"on", strings.TrimSuffix(f.OS+"-"+f.Arch, "-")}, {"tags", f.Tags}, {"glibc", f.Glibc.String()},
			{"musl", f.Musl.String()}, {"macos", f.MacOS.String()}, {"python", f.Requires.String()}} {
			if x.value != "" {
				fmt.Fprintf(&b, ", %s: %q", x.key, x.value)
			}
		}
		if f.Sdist {
			b.WriteString(", sdist: true")
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}
