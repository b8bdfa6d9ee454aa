package doctor

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/resolver"
)

var commands = lazy.Regexp("`[^`]+`")

// admitted reports whether a team's policy admits every command of a way out that
// installs: `envfix plan` would not refuse the same here.
func (e *exam) admitted(way string) bool {
	if e.Standing.Policy == nil || e.Matrix == nil {
		return true
	}
	return !slices.ContainsFunc(commands().FindAllString(way, -1), func(code string) bool {
		return e.forbids(strings.Fields(strings.Trim(code, "`")))
	})
}

// barred reports whether nothing that fits is admitted by the team's policy.
func (e *exam) barred() bool {
	if e.Standing.Policy == nil || e.Matrix == nil {
		return false
	}
	h, _ := e.subject()
	return e.resolve(h, resolver.Request{}).Decision == resolver.NoSolution
}

// forbids reports whether the policy stands against a command line: it names a package
// that is never installed, or a torch that the resolver refuses from that index.
func (e *exam) forbids(argv []string) bool {
	i := slices.Index(argv, "install")
	if i < 0 {
		return false
	}
	wish := resolver.Request{OnlyIndex: "default"}
	if by, known := managers.Find(path.Base(argv[0])); known && by.MakesConda() {
		wish = resolver.Request{Manager: by.Name}
	}
	torch := false
	for j, word := range argv[i+1:] {
		word = strings.Trim(word, `"'`)
		if url, named := strings.CutPrefix(word, "--index-url="); named || argv[i+j] == "--index-url" {
			wish.OnlyIndex = strings.TrimSuffix(url, "/")
			if label := path.Base(wish.OnlyIndex); describe.IsBuild(label) {
				wish.Build, wish.OnlyIndex = label, strings.TrimSuffix(wish.OnlyIndex, "/"+label)
			}
			continue
		}
		q, err := pep508.Parse(strings.Replace(word, "pytorch", "torch", 1), "")
		switch {
		case err != nil:
		case slices.Contains(e.Standing.Policy.Never, machine.NormalName(q.Name)):
			return true
		case q.Name == "torch" || slices.Contains(resolver.Companions(), q.Name):
			torch, wish.Requirements = true, append(wish.Requirements, q)
		}
	}
	if !torch {
		return false
	}
	h, _ := e.subject()
	res := e.resolve(h, wish)
	return res.Choice == nil && res.Then == nil
}
