package index

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Verdict is the outcome of comparing a row with a wheel.
type Verdict string

// The verdicts, the best first.
const (
	Agree  Verdict = "agree"
	Unread Verdict = "cannot be read"
	Differ Verdict = "differ"
)

// A Check compares one field of a row with what the wheel says.
type Check struct {
	Field   string  `json:"field"`
	Row     string  `json:"row"`
	Wheel   string  `json:"wheel"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
}

// worst returns the verdict of several checks together.
func worst(checks []Check) Verdict {
	v := Agree
	for _, c := range checks {
		if c.Verdict == Differ || v == Agree {
			v = c.Verdict
		}
	}
	return v
}

// same compares two texts that say the same thing in the same words. A field
// that neither has is not compared.
func same(checks []Check, field, row, wheel string) []Check {
	if row == "" && wheel == "" {
		return checks
	}
	return append(checks, Check{Field: field, Row: row, Wheel: shown(wheel), Verdict: verdict(row == wheel)})
}

// verdict is that of two texts whose kind somebody else compared.
func verdict(agree bool) Verdict { return say.Either(agree, Agree, Differ) }

// CompareBytes compares a row with a wheel that [Client.Torch] read.
func CompareBytes(b *matrix.Build, t *Torch) []Check {
	unlabelled := t.Label == "" && (b.Label == "mps" || b.Label == "cpu") // CPU wheels have "+cpu" or none, Apple's none
	checks := same(nil, "label", say.If(!unlabelled, b.Label), t.Label)
	checks = same(checks, "cuda", b.CUDA.MajorMinor(), t.CUDA)
	if len(t.Gaps) > 0 && t.CUDA != "" && len(t.Native) == 0 {
		checks = append(checks, Check{Field: "arch list", Row: codes("sm_", b.Native), Verdict: Unread, Note: strings.Join(t.Gaps, "; ")})
	} else {
		checks = same(checks, "cubins", codes("sm_", b.Native), codes("sm_", t.Native))
		checks = same(checks, "ptx", codes("compute_", b.PTX), codes("compute_", t.PTX))
	}
	checks = append(checks, CompareMetadata(b, t)...)
	return checks
}

func codes(prefix string, list []matrix.Code) string {
	return strings.Join(text.Each(list, func(c matrix.Code) string { return prefix + c.SM.Code() + c.Suffix }), " ")
}

// CompareMetadata compares a row with what METADATA and the tags of a wheel say.
func CompareMetadata(b *matrix.Build, t *Torch) []Check {
	var checks []Check
	if t.Meta != nil && !b.CUDA.IsZero() {
		for _, p := range []struct{ field, row, project string }{
			{"toolkit", b.CUDA.String(), "cuda-toolkit"},
			{"cudnn", b.CuDNN.String(), "nvidia-cudnn-cu"},
			{"nccl", b.NCCL.String(), "nvidia-nccl-cu"},
			{"triton", b.Triton.String(), "triton"},
		} {
			checks = comparePin(checks, t, p.field, p.row, p.project)
		}
	}
	if t.Name.Interpreter() != "" {
		python := t.Name.Interpreter()
		checks = append(checks, Check{Field: "python tag", Row: pythonRange(b), Wheel: python, Verdict: verdict(covers(b, python))})
	}
	if tags := t.tagClash(); tags != "" {
		checks = append(checks, Check{Field: "tags", Row: t.File.Name, Wheel: tags, Verdict: Differ})
	}
	return compareGlibc(checks, b, t)
}

// tagClash returns the tags of the WHEEL file where they are of another Python
// or another machine than the file's name. Other manylinux words are usual: the
// x86_64 wheels up to 2.6 say linux_x86_64 inside and manylinux1 outside.
func (t *Torch) tagClash() string {
	os, arch := t.Name.Platform()
	for _, tag := range t.Tags {
		n, ok := ParseName("torch-0-" + tag + ".whl")
		if !ok {
			continue
		}
		o, a := n.Platform()
		if slices.Equal(n.Pythons, t.Name.Pythons) && o == os && (a == arch || o == "macos") {
			return "" // some macOS arm64 wheels say x86_64 inside
		}
	}
	return strings.Join(t.Tags, " ")
}

// comparePin compares a version of a row with the requirement for it. A wheel
// that bundles the library requires nothing, which proves nothing.
func comparePin(checks []Check, t *Torch, field, row, project string) []Check {
	ours := xslices.Filter(t.Meta.Requires, func(r pep508.Requirement) bool { // the name of one that ends in "-cu" wants CUDA's major
		major, isCUDA := strings.CutPrefix(r.Name, project)
		return r.Name == project || isCUDA && strings.HasSuffix(project, "-cu") && strings.Trim(major, "0123456789") == ""
	})
	names := pep508.Names(ours)
	pin := t.Meta.Pin(t.Env(), names...)
	switch {
	case pin == "" && field == "toolkit":
		return checks // before 2.11 there was no such requirement; "cuda" is compared
	case pin == "" && len(names) > 0 && row != "":
		return append(checks, Check{Field: field, Row: row, Verdict: Agree, Note: "METADATA does not require " + names[0] + " on Python " + t.Name.Interpreter()})
	case pin == "" && row != "":
		return append(checks, Check{Field: field, Row: row, Verdict: Unread, Note: "METADATA requires none: the wheel bundles it"})
	case strings.Trim(pin, "0123456789.") == "":
		return same(checks, field, row, pin)
	}
	// A range, such as triton~=3.9.0: the row's version must be in it.
	spec, bad := version.ParseSpecifier(pin)
	v, none := version.ParsePython(row)
	return append(checks, Check{Field: field, Row: row, Wheel: text.Printable(pin), Verdict: verdict(bad == nil && none == nil && spec.Admits(v))})
}

// compareGlibc compares the row's floor with the file's tag, and with symbols
// where the tag promises less.
func compareGlibc(checks []Check, b *matrix.Build, t *Torch) []Check {
	if b.OS != "linux" {
		return checks
	}
	tag := t.Name.Glibc()
	c := Check{Field: "glibc", Row: b.Glibc.String(), Wheel: tag.String(), Verdict: Differ}
	switch {
	case tag.IsZero():
		c.Verdict, c.Note = Unread, "its tag names none"
	case tag.Compare(b.Glibc) == 0:
		c.Verdict = Agree
	case tag.Less(b.Glibc) && t.Glibc.IsZero():
		c.Verdict, c.Note = Unread, "its tag promises less; symbols are read of one wheel per release"
		if tag.Less(trusted()) {
			return checks // judged by that one wheel
		}
		c.Verdict = Differ
	case tag.Less(b.Glibc) && t.Glibc.Compare(b.Glibc) == 0:
		c.Verdict, c.Wheel = Agree, t.Glibc.String()
		c.Note = fmt.Sprintf("from the symbols of its libraries; its tag promises %s", tag)
	}
	return append(checks, c)
}

// covers reports whether a row has wheels for an interpreter, such as 3.13t.
func covers(b *matrix.Build, python string) bool {
	if strings.HasSuffix(python, "t") {
		return slices.Contains(b.FreeThreaded, python)
	}
	v, err := version.ParsePython(python)
	return err == nil && v.Compare(b.PythonMin) >= 0 && v.Compare(b.PythonMax) <= 0
}

// pythonRange writes a row's Pythons: 3.10 - 3.14, 3.13t.
func pythonRange(b *matrix.Build) string {
	s := b.PythonMin.String() + " - " + b.PythonMax.String()
	for _, f := range b.FreeThreaded {
		s += ", " + f
	}
	return s
}

func minorOf(v version.Python) (n int) {
	if _, err := fmt.Sscanf(v.String(), "3.%d", &n); err != nil {
		return 0
	}
	return n
}

// comparePythons compares a row's interpreters with those that the index has
// wheels for.
func comparePythons(b *matrix.Build, found []string) Check {
	more := xslices.Filter(found, func(p string) bool { return !covers(b, p) })
	var row []string
	for n := minorOf(b.PythonMin); n <= minorOf(b.PythonMax) && n < 100; n++ {
		row = append(row, fmt.Sprintf("3.%d", n))
	}
	less := xslices.Filter(append(row, b.FreeThreaded...), func(p string) bool { return !slices.Contains(found, p) })
	note := say.With("the index also has ", strings.Join(more, " "), "") + say.With("; no wheel for ", strings.Join(less, " "), "")
	return Check{Field: "pythons", Row: pythonRange(b), Wheel: strings.Join(found, " "), Verdict: verdict(note == ""), Note: strings.TrimPrefix(note, "; ")}
}
