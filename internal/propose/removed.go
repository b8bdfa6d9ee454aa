package propose

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// imported finds a module that is imported whatever is there: in a try, or where it is
// used, the line is indented.
var imported = lazy.Regexp(`(?m)^(?:from|import) +((?:torch|torchvision|torchaudio|torchtext)\.[a-z_.]+)`)

// imports are the modules of torch's family that a source text imports.
func imports(source []byte) (names []string) {
	return xslices.Once(text.Each(imported().FindAllSubmatch(source, -1), func(m [][]byte) string { return string(m[1]) }))
}

// stale are the limits that imports set: "torchvision<0.17".
func (l *Loop) stale(imports []string) (limits []string) {
	for _, name := range imports {
		for _, r := range l.Removed {
			if name == r.Module || strings.HasPrefix(name, r.Module+".") {
				family, _, _ := strings.Cut(name, ".")
				limits = append(limits, family+"<"+r.Since.String())
			}
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// heed keeps torch's family at what a package that is built imports of it, where that
// runs here, and says so; else that it will not be found.
func (l *Loop) heed(a *Answer, r resolver.Request, s *Source) {
	for _, limit := range l.stale(s.Imports) {
		q, err := pep508.Parse(limit, "")
		if err != nil || slices.Contains(a.Limits, limit) {
			continue
		}
		why := fmt.Sprintf("%s %s imports what %s has no more since %s", s.Name, s.Version, q.Name, strings.TrimPrefix(q.Spec.String(), "<"))
		b := a.clone()
		b.Limits = append(b.Limits, limit)
		best := l.Resolve(b.Judged(r))
		if best == nil && r.Python == "" { // an older torch may be for an older Python
			b.Python = ""
			best = l.Resolve(b.Judged(r))
		}
		if best == nil {
			a.say("%s, and none before it runs here: that import fails", why)
			continue
		}
		a.Limits, a.Python = b.Limits, best.Python
		a.say("%s: %s", why, limit)
	}
}
