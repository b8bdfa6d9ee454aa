package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/near"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// A NameError reports a requirement whose name is not that of a package that is known
// and is like one that is: such names are registered by those who attack.
type NameError struct {
	Name, Meant, Why string

	From string // the file that names what is only like a known name, or what a package is imported as: it may be meant; "" none
}

func (e *NameError) Error() string {
	s := fmt.Sprintf("`%s` is no package that is known here: did you mean %s?", text.Cut(e.Name, 60), e.Meant)
	if e.Why != "" {
		s = fmt.Sprintf("`%s`: did you mean %s? %s", text.Cut(e.Name, 60), e.Meant, e.Why)
	}
	return s + fmt.Sprintf(" (`--as-named %s` lets it pass)", text.Cut(e.Name, 60))
}

// Misnamed is the first [NameError] of a request; nil: there is none.
func Misnamed(m *matrix.Matrix, r Request) error {
	return naming{&problem{m: m, req: request{Request: r}}}.checkNames()
}

// checkNames returns the first [NameError] of the requirements that AsNamed does not
// let pass.
func (s naming) checkNames() error {
	several := func(name string) bool { // it stands for packages of several CUDAs
		return slices.ContainsFunc(s.p.m.Frameworks, func(f matrix.Framework) bool { return PlainName(f.Package) == name })
	}
	var famous []string
	for _, r := range s.p.req.Requirements {
		if slices.Contains(s.p.req.AsNamed, r.Name) || r.URL != "" {
			continue
		}
		real, meant := s.p.m.KnownName(r.Name)
		switch {
		case several(r.Name) && !strings.Contains(meant.Meant, "-cpu"): // cudf stands for the one of the CUDA that runs here
		case meant.Meant != "":
			return &NameError{Name: r.Name, Meant: meant.Meant, Why: meant.Why, From: say.If(strings.HasPrefix(meant.Why, "the import is called "), r.From)}
		case real || len(r.Name) < 4:
			continue
		}
		if famous == nil {
			famous = s.famous()
		}
		for _, name := range famous {
			if alike(r.Name, name) {
				return &NameError{Name: r.Name, Meant: name, From: r.From}
			}
		}
		for _, name := range s.p.m.KnownNames() {
			if len(name) == 5 && slip(r.Name, name) {
				return &NameError{Name: r.Name, Meant: name, From: r.From}
			}
		}
	}
	return nil
}

// famous are the packages that this program decides on, and what most people install
// beside them: the names worth imitating.
func (s naming) famous() []string {
	out := append([]string{"torch", triton, "numpy", "transformers", "accelerate", "diffusers", "lightning", "safetensors", "huggingface-hub"},
		companions...)
	out = append(out, text.Each(s.p.m.Frameworks, func(f matrix.Framework) string { return PlainName(f.Package) })...)
	for _, e := range s.p.m.Extensions {
		if !e.Torch.IsZero() {
			out = append(out, e.Package)
		}
	}
	for _, name := range s.p.m.KnownNames() { // short names have too many neighbours, numbers are versions
		if len(name) >= 6 && !strings.ContainsAny(name, "0123456789") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alike reports whether two names differ by one letter, or by two that changed places.
func alike(a, b string) bool {
	d := near.Distance(a, b)
	if d != 2 || len(a) != len(b) {
		return d == 1
	}
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// slip reports whether a name is another one with a letter too many, or with two that
// changed places. A real name of five letters has too many neighbours that have a letter
// less, or another one (scipy, scapy).
func slip(a, b string) bool {
	return alike(a, b) && (len(a) > len(b) || len(a) == len(b) && near.Distance(a, b) == 2)
}
