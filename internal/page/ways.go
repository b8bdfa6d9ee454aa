package page

import (
	"slices"
	"strconv"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/resolver"
)

// A Way is one of the nearest other answers: what to change and what that gives.
type Way struct {
	Change string `json:"change"`
	Torch  string `json:"torch"`
	Build  string `json:"build"`
	Words  *Words `json:"words,omitempty"` // the question that is answered so; nil: the change is none of words
}

func ways(q question, res *resolver.Resolution) []Way {
	return text.Each(res.Nearest, func(n resolver.Nearest) Way { return Way{n.Change, n.Torch, n.Build, changed(q, n.Change)} })
}

// changed makes the change that a nearest answer names; nil where words cannot.
func changed(q question, change string) *Words {
	w := q.words
	change = strings.ReplaceAll(change, "`", "")
	change, _, _ = strings.Cut(change, " (not advertised)")
	change, _, _ = strings.Cut(change, " (nobody has seen the wheel)")
	verb, rest, _ := strings.Cut(change, " ")
	if field := w.field(verb); field != nil {
		*field = rest
		return &w
	}
	switch verb {
	case "torch":
		w.Packages = pinned(w.Packages, rest)
	case "without":
		for _, name := range strings.Split(rest, ", ") {
			w.Packages = without(w.Packages, name)
		}
	case "leave":
		if w.Request.GPUs = leftOver(q, change); w.Request.GPUs == "" {
			return nil
		}
	case "drop":
		if !dropped(&w, rest) {
			return nil
		}
	default: // "torch==2.9.1 instead of the file"
		name, _, file := strings.Cut(change, " instead of the file")
		if !file {
			return nil
		}
		w.Packages = inPlace(w.Packages, name)
	}
	return &w
}

// field is the field of a word that a change names; nil: it names none.
func (w *Words) field(name string) *string {
	return map[string]*string{"python": &w.Python, "driver": &w.Driver, "--cuda": &w.CUDA, "--build": &w.Build, "--manager": &w.Manager,
		"--only-index": &w.OnlyIndex}[name]
}

// dropped takes back one word of the request: "--cuda 12.6", "the label +cu126".
func dropped(w *Words, what string) bool {
	flag, _, _ := strings.Cut(what, " ")
	if field := w.field(flag); field != nil {
		*field = ""
		return true
	}
	switch flag {
	case "--cpu":
		w.CPU = false
	case "--jit":
		w.JIT = false
	case "the":
		w.Packages = slices.Clone(w.Packages)
		for i, p := range w.Packages {
			if r, err := describe.Requirement(p); err == nil && r.Label != "" {
				w.Packages[i] = strings.Replace(p, "+"+r.Label, "", 1)
			}
		}
	default:
		return false
	}
	return true
}

// torchFamily are the packages whose pins go with torch's.
var torchFamily = append([]string{"torch"}, resolver.Companions()...)

// pinned asks for one torch, and for its companions in whatever version goes with it.
func pinned(packages []string, torch string) []string {
	var out []string
	found := false
	for _, p := range packages {
		r, err := describe.Requirement(p)
		switch {
		case err == nil && r.Name == "torch" && found:
			continue
		case err == nil && r.Name == "torch":
			p, found = "torch=="+torch, true
		case err == nil && slices.Contains(torchFamily, r.Name):
			p = r.Name
		}
		out = append(out, p)
	}
	if !found {
		out = append([]string{"torch==" + torch}, out...)
	}
	return out
}

func without(packages []string, name string) []string {
	out := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		r, err := describe.Requirement(p)
		return err == nil && r.Name == name
	})
	if len(out) == 0 {
		out = []string{"torch"}
	}
	return out
}

// inPlace names a package in place of the file that was asked for.
func inPlace(packages []string, named string) []string {
	want, err := describe.Requirement(named)
	out := slices.Clone(packages)
	for i, p := range out {
		if r, rerr := describe.Requirement(p); err == nil && rerr == nil && r.URL != "" && r.Name == want.Name {
			out[i] = named
		}
	}
	return out
}

// leftOver are the indexes of the GPUs that "leave out Tesla V100 (7.0)" leaves, of
// those that were asked for.
func leftOver(q question, change string) string {
	asked := q.machine.GPUs
	if len(q.request.GPUs) > 0 {
		asked = slices.DeleteFunc(slices.Clone(asked), func(g machine.GPU) bool { return !slices.Contains(q.request.GPUs, g.Index) })
	}
	var left []string
	for _, g := range asked {
		name := strings.TrimPrefix(g.Name, "NVIDIA ")
		if !strings.Contains(change, name) {
			left = append(left, strconv.Itoa(g.Index))
		}
	}
	if len(left) == 0 && len(asked) > 1 { // all are of one kind: one of them stays
		left = []string{strconv.Itoa(asked[0].Index)}
	}
	return strings.Join(left, ",")
}
