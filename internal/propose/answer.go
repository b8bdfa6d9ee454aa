package propose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// An Answer is what was found, and what of the project it is not about. It can be kept:
// the same question has the same one as long as the index does not change.
type Answer struct {
	Python   string            `json:"python"`             // "": the matrix chooses
	Limits   []string          `json:"limits,omitempty"`   // beside the project's own: "torch==2.8.0"
	Brought  []string          `json:"brought,omitempty"`  // what others bring and whose build the matrix chooses: "tilelang==0.1.12"
	Plain    []string          `json:"plain,omitempty"`    // packages that are installed as they are asked for: the matrix is not asked
	Aside    []string          `json:"aside,omitempty"`    // packages that are not installed
	Build    []Source          `json:"build,omitempty"`    // what has to be built
	Versions map[string]string `json:"versions,omitempty"` // what uv found; empty: nothing that goes together
	Unasked  string            `json:"unasked,omitempty"`  // why uv gave no answer; "" it did
	Refused  string            `json:"refused,omitempty"`  // why uv found no set; "" it did
	Ways     []string          `json:"ways,omitempty"`     // what to change then, each tried
	Said     []string          `json:"said"`
}

// Judged is what the matrix is asked.
func (a *Answer) Judged(r resolver.Request) resolver.Request {
	r = a.kept(r)
	r.Resolved = len(a.Versions) > 0 || a.Unasked != "" && a.Python != "" // the index was looked at
	r.Requirements = slices.DeleteFunc(r.Requirements, func(q pep508.Requirement) bool { return slices.Contains(a.Plain, q.Name) })
	r.Python = cmp.Or(a.Python, r.Python)
	r.Requirements = slices.Concat(r.Requirements, a.others(a.Limits), a.others(a.Brought))
	return r
}

// others are requirements that nobody asked for, without what the matrix is not asked about.
func (a *Answer) others(lines []string) []pep508.Requirement {
	return slices.DeleteFunc(pep508.Read(lines, resolver.OfOthers), func(q pep508.Requirement) bool { return slices.Contains(a.Plain, q.Name) })
}

// kept is what is asked for without what is set aside.
func (a *Answer) kept(r resolver.Request) resolver.Request {
	r.Requirements = slices.DeleteFunc(slices.Clone(r.Requirements), func(q pep508.Requirement) bool { return slices.Contains(a.Aside, q.Name) })
	return r
}

// Installed is what is installed of a request: without what is set aside, and in no build
// of a package that lies elsewhere than what was found of it.
func (a *Answer) Installed(r resolver.Request) resolver.Request {
	r = a.kept(r)
	for i, q := range r.Requirements {
		if a.elsewhere(q) {
			r.Requirements[i].Label = ""
		}
	}
	return r
}

// elsewhere reports whether a requirement names a build, as 2.1.0+pt113cu117 does, and what
// is installed is none: its index has no such file.
func (a *Answer) elsewhere(q pep508.Requirement) bool {
	v := a.Versions[q.Name]
	return q.Label != "" && !family(q.Name) && !strings.Contains(v, "+") &&
		(v != "" || slices.ContainsFunc(a.Build, func(s Source) bool { return s.Name == q.Name }))
}

// Builds are NAME==VERSION of what has to be built; among: of these alone, where there are any.
func (a *Answer) Builds(among []pep508.Requirement) (pinned []string) {
	for _, s := range a.Build {
		if among == nil || slices.ContainsFunc(among, func(q pep508.Requirement) bool { return q.Name == s.Name }) {
			pinned = append(pinned, s.Name+"=="+s.Version)
		}
	}
	return pinned
}

// unfetched is the refusal of a placeholder whose project names other Pythons than the answer's:
// the wheel that building it fetches is for one of those.
func (a *Answer) unfetched() error {
	for _, s := range a.Build {
		if s.Kind == "stub" && len(s.Pythons) > 0 && !slices.Contains(s.Pythons, a.Python) {
			return &refusal{fmt.Sprintf("%s %s fetches a wheel of its project's own index, and names no Python %s but %s", s.Name, s.Version, a.Python, list(s.Pythons))}
		}
	}
	return nil
}

// Pins are the versions that the installer is held to: all that uv found but torch's own
// family and the libraries of CUDA, of which the build decides and the matrix chooses it.
func (a *Answer) Pins() []string {
	names := xslices.Filter(slices.Sorted(maps.Keys(a.Versions)), func(name string) bool { return !family(name) && !ofBuild(name) })
	return text.Each(names, func(name string) string { return name + "==" + a.Versions[name] })
}

// ofBuild reports whether the build of torch decides the version of a package.
func ofBuild(name string) bool {
	return slices.ContainsFunc([]string{"nvidia-", "cuda-", "triton", "pytorch-triton"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func (a *Answer) say(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(a.Said, s) {
		a.Said = append(a.Said, s)
	}
}

func (a *Answer) clone() *Answer {
	b := *a
	b.Plain, b.Aside, b.Build, b.Said = slices.Clone(a.Plain), slices.Clone(a.Aside), slices.Clone(a.Build), slices.Clone(a.Said)
	b.Brought, b.Limits = slices.Clone(a.Brought), slices.Clone(a.Limits)
	return &b
}
