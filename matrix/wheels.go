package matrix

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
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
	Read     string // the day on which the index was read
}

// Wheels reads the sets of wheels of a matrix. The faults are those of form.
func Wheels(fsys fs.FS) ([]WheelSet, []Fault) {
	text, err := readFile(fsys, WheelsFile)
	if err != nil {
		return nil, []Fault{{File: "data/" + WheelsFile, Text: err.Error()}}
	}
	s := &source{file: WheelsFile}
	var sets []WheelSet
	if o, ok := s.parse(text); ok {
		if _, ok := o.head(); ok {
			seen := map[[3]string]bool{}
			o.list("wheels", func(row object) {
				w := readWheelSet(row)
				if key := [3]string{w.Torch, w.OS, w.Arch}; seen[key] {
					s.fault(row.line, "torch %s on %s %s is there twice", w.Torch, w.OS, w.Arch)
				} else {
					seen[key] = true
				}
				sets = append(sets, w)
			})
			o.done()
		}
	}
	for i := range s.faults {
		s.faults[i].File = "data/" + s.faults[i].File
	}
	return sets, s.faults
}

func readWheelSet(o object) WheelSet {
	w := WheelSet{Torch: o.python("torch").String(), OS: o.one("os", "linux", "windows", "macos"), Arch: o.one("arch", "x86_64", "aarch64", "arm64"), Count: o.number("count")}
	size, line := o.scalar("bytes", false)
	var err error
	if w.Bytes, err = strconv.ParseInt(size, 10, 64); err != nil || w.Bytes <= 0 {
		o.s.fault(line, "bytes: %q is not a size", clip(size))
	}
	w.SHA256, line = o.scalar("sha256", true)
	if len(w.SHA256) != 64 {
		o.s.fault(line, "sha256: %q is none", clip(w.SHA256))
	}
	w.Read = o.text("read")
	o.done()
	return w
}

// EncodeWheels writes the file that [Wheels] reads.
func EncodeWheels(sets []WheelSet) []byte {
	var b bytes.Buffer
	b.WriteString(`# The Linux wheels of torch on the default index, one row per release and
# architecture; of wheels built twice the one that installers take. sha256 is that
# of what sha256sum prints for the files in the order of their names.
# Written by: envfix matrix prove --record data/wheels.yaml
format: 1

wheels:
`)
	for _, w := range sets {
		fmt.Fprintf(&b, "- {torch: %q, os: %s, arch: %q, count: %d, bytes: %d, sha256: %q, read: %q}\n", w.Torch, w.OS, w.Arch, w.Count, w.Bytes, w.SHA256, w.Read)
	}
	return b.Bytes()
}
