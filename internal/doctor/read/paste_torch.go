package read

import (
	"strconv"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// The ranks of what names torch's version: what people write, what a list of
// packages says, what torch says itself.
const (
	ByProse = 1 + iota
	ByLabel // prose with a local label: copied from somewhere
	ByList
	ByTorch
)

// printed is the list of what one print call shows, for its answer in the next
// line; what is of no interest is a dash.
func printed(call string) string {
	var names []string
	call = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(call), "print("), ")")
	for arg := range strings.SplitSeq(call, ",") {
		switch arg = strings.TrimSpace(arg); {
		case strings.Contains(arg, "is_ava"):
			arg = "is_available"
		case arg != "torch.__version__" && arg != "torch.version.cuda":
			arg = "-"
		}
		names = append(names, arg)
	}
	return strings.Join(names, ",")
}

// notThere is an installer that finds no such version.
var notThere = lazy.Regexp(`(?i)\bno version of torch|could not find a version|no matching distribution`)

// torch notes a version of torch. What torch says itself wins over a list of
// packages, and that over what people write.
func (r *Reader) torch(v string, rank int, s Evidence) {
	t := &r.c.Torch
	if notThere().MatchString(s.Text) {
		if strings.HasPrefix(v, t.Version) && t.Rank <= ByLabel { // it was asked for, and is not here
			t.Version, t.Label, t.Rank, t.NoCUDA, t.CUDA = "", "", 0, false, version.Dotted{}
		}
		return
	}
	if rank == ByTorch && t.Rank == ByTorch && t.SeesGPU() && !strings.HasPrefix(v, t.Version) {
		*t = Torch{} // the one before saw the GPU: what fails is another
	}
	if v == "" || rank <= t.Rank {
		return
	}
	if v == "N/A" {
		t.VersionAt = s
		return
	}
	public, label := version.SplitLocal(strings.TrimRight(v, ".,;:)'\"`"))
	if strings.HasPrefix(label, "git") {
		label = ""
	}
	t.Version, t.VersionAt, t.Rank = public, s, rank
	t.setLabel(label)
}

// setLabel takes over what a local label says about the build.
func (t *Torch) setLabel(label string) {
	t.Label = label
	cuda, isCUDA := LabelCUDA(label)
	switch {
	case label == "cpu":
		t.NoCUDA, t.CUDA, t.CUDAAt = true, version.Dotted{}, t.VersionAt
	case isCUDA:
		t.NoCUDA, t.CUDA, t.CUDAAt = false, cuda, t.VersionAt
	case strings.HasPrefix(label, "rocm"):
		t.HIP, t.NoCUDA = strings.TrimPrefix(label, "rocm"), false
	}
}

// prose is torch with words around it: "worked with torch 2.6" is not the torch
// that is here.
func (r *Reader) prose(v, label string, s Evidence) {
	text := strings.ToLower(s.Text)
	about := clause(text, v)
	for _, w := range []string{
		"work", "tried", "requires torch", "instead", "fixed", "support", "before:", "was built", "needs",
		"need torch", "upgrade to", "downgrade to", "newer than", "older than", "(the user",
	} {
		if strings.Contains(about, w) {
			return
		}
	}
	label = strings.TrimLeft(strings.ToLower(label), " (+")
	for _, w := range []string{"with ", "for ", "and "} {
		label = strings.TrimPrefix(label, w)
	}
	rank := ByProse
	if label != "" {
		v, rank = v+"+"+label, ByLabel
	}
	if strings.HasPrefix(text, "pip") || strings.HasPrefix(text, "conda") || strings.Contains(text, " install ") {
		rank = ByProse // what was asked for is not what is there
	}
	r.torch(v, rank, s)
}

// clause is the part of a line that holds a word: between semicolons, brackets
// and full stops.
func clause(text, word string) string {
	i := strings.Index(text, word)
	if i < 0 {
		return text
	}
	from := max(strings.LastIndexAny(text[:i], ";("), strings.LastIndex(text[:i], ". "))
	to := i + len(word)
	if n := strings.IndexAny(text[to:], ";)"); n >= 0 {
		return text[from+1 : to+n]
	}
	return text[from+1:]
}

func (r *Reader) torchCUDA(v string, s Evidence) {
	t := &r.c.Torch
	v = strings.TrimSpace(v)
	switch v = head(v, 40); {
	case v == "None" || v == "Could not collect":
		if t.HIP == "" {
			t.NoCUDA, t.CUDAAt = true, s
		}
	case v == "N/A":
	default:
		if d, err := version.ParseDotted(strings.TrimRight(v, ".,")); err == nil {
			t.CUDA, t.NoCUDA, t.CUDAAt = d, false, s
		}
	}
}

func (r *Reader) available(v string, s Evidence) {
	if v == "" {
		return
	}
	yes := strings.EqualFold(v, "true") || strings.EqualFold(v, "yes")
	if !r.c.Torch.AvailableAt.IsZero() && yes {
		return // the failure is what it is about
	}
	r.c.Torch.Available, r.c.Torch.AvailableAt = &yes, s
}

func (r *Reader) arches(list string, s Evidence) {
	t := &r.c.Torch
	t.Arches = nil
	for _, f := range strings.FieldsFunc(list, func(c rune) bool {
		return !(c == '_' || c >= '0' && c <= '9' ||
			c >= 'a' && c <= 'z')
	}) {
		if sm, err := machine.ParseSM(strings.TrimRight(f, "af")); err == nil {
			t.Arches = append(t.Arches, sm)
		}
	}
	t.ArchesAt = s
}

// labelCUDA is 12.6 of cu126.
func LabelCUDA(label string) (version.Dotted, bool) {
	d, ok := strings.CutPrefix(label, "cu")
	d = strings.TrimPrefix(d, "da")
	if !ok || len(d) < 2 || len(d) > 3 || strings.Trim(d, "0123456789") != "" {
		return version.Dotted{}, false
	}
	v, err := version.ParseDotted(d[:len(d)-1] + "." + d[len(d)-1:])
	return v, err == nil
}

// public is a version without its local label.
func Public(v string) string {
	p, _ := version.SplitLocal(v)
	return p
}

// Atoi is a number; -1 none.
func Atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return -1
	}
	return n
}
