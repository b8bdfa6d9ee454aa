package matrix

import (
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
)

// onPlatform reports whether a wheel's platform tags admit a machine. What is not
// known of the machine (its libc, its macOS) excludes nothing.
func (f *Files) onPlatform(p machine.Platform) bool {
	if f.OS == "" {
		return true
	}
	if f.OS != p.OS || f.Arch != "" && f.Arch != p.Arch {
		return false
	}
	if f.OS == "linux" && p.Libc != nil {
		floor := say.Either(p.Libc.Kind == "musl", f.Musl, f.Glibc)
		if floor.IsZero() && f.Glibc.IsZero() != f.Musl.IsZero() { // for the other libc alone
			return false
		}
		if v := p.Libc.Version; !v.IsZero() && v.Less(floor) {
			return false
		}
	}
	v, err := version.ParseDotted(p.DistroVersion)
	return f.OS != "macos" || err != nil || !v.Less(f.MacOS)
}

// tagAdmits reports whether a wheel of this tag loads in a Python such as 3.12, or
// 3.13t (free-threaded).
func tagAdmits(tag, python string) bool {
	python, free := strings.CutSuffix(python, "t")
	major, minor, ok := strings.Cut(python, ".")
	n, err := strconv.Atoi(minor)
	if !ok || err != nil {
		return false
	}
	interpreter, abi, _ := strings.Cut(tag, "-")
	switch {
	case strings.HasPrefix(interpreter, "py"):
		v := strings.TrimPrefix(interpreter, "py")
		return v == major || strings.HasPrefix(v, major) && atMost(v[1:], n)
	case abi == "abi3":
		return !free && strings.HasPrefix(interpreter, "cp"+major) && atMost(strings.TrimPrefix(interpreter, "cp"+major), n)
	}
	want := "cp" + major + minor + say.If(free, "t")
	return interpreter == want
}

func atMost(digits string, n int) bool {
	v, err := strconv.Atoi(digits)
	return err == nil && v <= n
}

// loadsIn reports whether one of the tags admits a Python.
func (f *Files) loadsIn(python string) bool {
	return slices.ContainsFunc(strings.Fields(f.Tags), func(tag string) bool { return tagAdmits(tag, python) })
}

// Loads reports whether a wheel loads on a system in a Python; "": in any.
func (f *Files) Loads(python string, p machine.Platform) bool {
	return f.onPlatform(p) && (python == "" || f.loadsIn(python))
}

// spellings are a release as it is written and as an index may write the same one: 0.5 and
// 0.5.0 are equal (PEP 440, version specifiers).
func spellings(v version.Python) (text, same string) {
	text = v.String()
	if short, ok := strings.CutSuffix(text, ".0"); ok && strings.Contains(short, ".") {
		return text, short
	}
	return text, text + ".0"
}

// hasWord reports whether a text of words parted by spaces holds one.
func hasWord(text, word string) bool {
	for word != "" {
		i := strings.Index(text, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || text[i-1] == ' ') && (end == len(text) || text[end] == ' ') {
			return true
		}
		text = text[end:]
	}
	return false
}
