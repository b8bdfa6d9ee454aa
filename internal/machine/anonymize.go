package machine

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
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
	words = slices.Clone(words)
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	clean := func(s string) string { return anonymous(s, words) }

	m.Platform.BootID = ""
	m.Platform.Kernel = clean(m.Platform.Kernel)
	m.GPUs = slices.Clone(m.GPUs)
	for i := range m.GPUs {
		m.GPUs[i].UUID = ""
		m.GPUs[i].Use = m.GPUs[i].Use.anonymous()
	}
	m.Toolkits = slices.Clone(m.Toolkits)
	for i := range m.Toolkits {
		m.Toolkits[i].Path = clean(m.Toolkits[i].Path)
	}
	m.Pythons = slices.Clone(m.Pythons)
	for i := range m.Pythons {
		m.Pythons[i].Path = clean(m.Pythons[i].Path)
	}
	m.LibraryDirs = slices.Clone(m.LibraryDirs)
	for i := range m.LibraryDirs {
		d := &m.LibraryDirs[i]
		d.Path, d.From = clean(d.Path), clean(d.From)
		d.Origins = slices.Clone(d.Origins)
		for k := range d.Origins {
			d.Origins[k].File, d.Origins[k].Name = clean(d.Origins[k].File), clean(d.Origins[k].Name)
		}
	}
	m.Installed = slices.Clone(m.Installed)
	for i := range m.Installed {
		m.Installed[i].Path = clean(m.Installed[i].Path)
	}
	m.Tools = slices.Clone(m.Tools)
	for i := range m.Tools {
		m.Tools[i].Path = clean(m.Tools[i].Path)
	}
	env := map[string]string{}
	for name, value := range m.Env {
		env[name] = clean(urlHost().ReplaceAllString(value, "${1}…"))
	}
	m.Env = env
	m.Notes = slices.Clone(m.Notes)
	for i := range m.Notes {
		m.Notes[i] = clean(m.Notes[i])
	}
	m.fill()
	return m
}

func anonymous(s string, words []string) string {
	s = homePath().ReplaceAllStringFunc(s, func(p string) string {
		part := homePath().FindStringSubmatch(p)
		return "~" + tail(part[2])
	})
	s = uuid().ReplaceAllString(s, "${1}…")
	for _, w := range words {
		s = strings.ReplaceAll(s, w, "…")
	}
	return s
}

// tail returns "/…/last" of "/a/b/last"; what lies directly below the home
// directory keeps its name only where it has no parent to hide.
func tail(rest string) string {
	sep := "/"
	if strings.HasPrefix(rest, `\`) {
		sep = `\`
	}
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
func AnonymousText(s string, words ...string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) < 3 })
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	return anonymous(s, words)
}
