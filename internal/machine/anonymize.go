package machine

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/say"
)

var (
	// A home directory and what lies below it, in a path or in a list of paths.
	homePath = lazy.Regexp(`(?i)((?:/var)?/home/[^/:;\s"']+|/Users/[^/:;\s"']+|/root\b|[a-z]:\\Users\\[^\\:;"']+)((?:[/\\][^:;\s"']*)?)`)
	// GPU-…, MIG-… and plain UUIDs, and MIG-GPU-…/3/0 of drivers before 470.
	uuid = lazy.Regexp(`(?i)\b(GPU-|MIG-(?:GPU-)?)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	// The host of a URL, with what may stand before it.
	urlHost = lazy.Regexp(`([a-z][a-z0-9+.-]*://)[^/\s"',;]+`)
)

// Anonymize returns the facts without what tells whose they are: UUIDs, the
// boot's id, hosts of URLs, and paths below a home directory, which become
// ~/…/last-part. The given words (the names of host and user, the home
// directory) are removed wherever they stand. A plan made from the result is
// the one that the machine itself would get, but for paths.
func (m Machine) Anonymize(words ...string) Machine {
	clean := cleaner(words)
	m.Platform.BootID = ""
	m.Platform.Kernel = clean(m.Platform.Kernel)
	m.GPUs = edited(m.GPUs, func(g *GPU) { g.UUID, g.Use = "", g.Use.anonymous() })
	m.Toolkits = edited(m.Toolkits, func(t *Toolkit) { t.Path = clean(t.Path) })
	m.Pythons = edited(m.Pythons, func(p *Python) { p.Path = clean(p.Path) })
	m.LibraryDirs = edited(m.LibraryDirs, func(d *LibraryDir) {
		d.Path, d.From = clean(d.Path), clean(d.From)
		d.Origins = edited(d.Origins, func(o *Origin) { o.File, o.Name = clean(o.File), clean(o.Name) })
	})
	m.Installed = edited(m.Installed, func(p *Package) { p.Path = clean(p.Path) })
	m.Tools = edited(m.Tools, func(t *Tool) { t.Path = clean(t.Path) })
	env := map[string]string{}
	for name, value := range m.Env {
		env[name] = clean(urlHost().ReplaceAllString(value, "${1}…"))
	}
	m.Env = env
	m.Notes = edited(m.Notes, func(n *string) { *n = clean(*n) })
	m.fill()
	return m
}

// edited is a copy of a list, each of its entries changed.
func edited[T any](list []T, edit func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		edit(&list[i])
	}
	return list
}

// cleaner takes out home paths, UUIDs and words, the longest first.
func cleaner(words []string) func(string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) < 3 })
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	return func(s string) string {
		s = homePath().ReplaceAllStringFunc(s, func(p string) string { return "~" + tail(homePath().FindStringSubmatch(p)[2]) })
		s = uuid().ReplaceAllString(s, "${1}…")
		for _, w := range words {
			s = strings.ReplaceAll(s, w, "…")
		}
		return s
	}
}

// tail returns "/…/last" of "/a/b/last"; what lies directly below the home
// directory keeps its name only where it has no parent to hide.
func tail(rest string) string {
	sep := say.Either(strings.HasPrefix(rest, `\`), `\`, "/")
	parts := strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' })
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return sep + "…"
	}
	return sep + "…" + sep + parts[len(parts)-1]
}

// AnonymousText is a text without home paths, UUIDs and the given words, as
// [Machine.Anonymize] leaves them out.
func AnonymousText(s string, words ...string) string { return cleaner(words)(s) }
