package index

import (
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
)

// A Name is the name of a wheel file, taken apart (PEP 427).
type Name struct {
	Project string // normalised
	Version string // public part
	Label   string // local part: cu126
	Build   int    // build number: of two wheels that differ in nothing else, installers take the higher
	Pythons []string
	ABIs    []string
	Tags    []string // platforms: manylinux_2_28_x86_64 …
}

// ParseName takes the name of a wheel apart; ok is false for anything that is
// not a wheel.
func ParseName(file string) (n Name, ok bool) {
	stem, ok := strings.CutSuffix(file, ".whl")
	if !ok || !plainName(file) {
		return Name{}, false
	}
	p := strings.Split(stem, "-")
	build := 0
	if len(p) == 6 {
		digits := strings.TrimRight(p[2], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._")
		var err error
		if build, err = strconv.Atoi(digits); err != nil {
			return Name{}, false
		}
		p = slices.Delete(p, 2, 3)
	}
	if len(p) != 5 || slices.Contains(p, "") {
		return Name{}, false
	}
	n = Name{Build: build, Project: machine.NormalName(p[0]), Pythons: strings.Split(p[2], "."), ABIs: strings.Split(p[3], "."), Tags: strings.Split(p[4], ".")}
	n.Version, n.Label = version.SplitLocal(p[1])
	return n, true
}

// Platform returns the operating system and the architecture of the wheel, in
// the words of package matrix, or "" for what it is not bound to.
func (n Name) Platform() (os, arch string) {
	tag := n.Tags[0]
	switch {
	case strings.HasPrefix(tag, "manylinux"), strings.HasPrefix(tag, "linux"), strings.HasPrefix(tag, "musllinux"):
		os = "linux"
	case strings.HasPrefix(tag, "win"):
		os = "windows"
	case strings.HasPrefix(tag, "macosx"):
		os = "macos"
	}
	switch {
	case strings.HasSuffix(tag, "x86_64"), strings.HasSuffix(tag, "amd64"):
		arch = "x86_64"
	case strings.HasSuffix(tag, "aarch64"):
		arch = "aarch64"
	case strings.HasSuffix(tag, "arm64"):
		arch = "arm64"
	}
	return os, arch
}

// Interpreter returns the Python of a wheel that is built for one CPython, such
// as 3.12 or 3.13t (free-threaded), or "".
func (n Name) Interpreter() string {
	digits, ok := strings.CutPrefix(n.Pythons[0], "cp")
	if !ok || len(n.Pythons) != 1 || len(digits) < 2 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	p := digits[:1] + "." + digits[1:]
	p += say.If(n.ABIs[0] == "cp"+digits+"t", "t")
	return p
}

// legacyGlibc is the glibc of manylinux tags before PEP 600.
var legacyGlibc = map[string]string{"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}

// Glibc returns the oldest glibc that the tags promise, or the zero version
// where they promise nothing (linux_x86_64, Windows …).
func (n Name) Glibc() version.Dotted {
	var oldest version.Dotted
	for _, tag := range n.Tags {
		before, _, _ := strings.Cut(tag, "_")
		s := legacyGlibc[before]
		if rest, ok := strings.CutPrefix(tag, "manylinux_"); ok {
			if p := strings.SplitN(rest, "_", 3); len(p) == 3 {
				s = p[0] + "." + p[1]
			}
		}
		v, err := version.ParseDotted(s)
		if err == nil && (oldest.IsZero() || v.Less(oldest)) {
			oldest = v
		}
	}
	return oldest
}

// MacOS returns the oldest macOS that the first tag names, such as 14.0.
func (n Name) MacOS() version.Dotted {
	rest, ok := strings.CutPrefix(n.Tags[0], "macosx_")
	p := strings.SplitN(rest, "_", 3)
	if !ok || len(p) != 3 {
		return version.Dotted{}
	}
	return version.ReadDotted(p[0] + "." + p[1])
}
