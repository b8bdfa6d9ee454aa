package apply

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/plan"
)

// heldRecord is where root's half writes down what envfix holds back.
const heldRecord = "/var/lib/envfix/held"

var rootFileName = lazy.Regexp(`^(envfix|nvidia|cuda)[A-Za-z0-9._-]*$`)

// rootFile reports whether a driver's installation may write path.
func rootFile(p string) bool {
	if p != path.Clean(p) || strings.ContainsAny(p, "\n\x00") {
		return false
	}
	dir, base := path.Split(p)
	kind, known := map[string]string{"/etc/modprobe.d/": ".conf", "/etc/yum.repos.d/": ".repo", "/etc/zypp/repos.d/": ".repo",
		"/etc/apt/sources.list.d/": ".list"}[dir]
	return p == heldRecord || known && rootFileName().MatchString(base) && path.Ext(base) == kind
}

// What may stand in a file that root writes, line by line: every line of a .repo
// file decides where code comes from, and a line of modprobe.d can name a program.
var rootLines = map[string]func() *regexp.Regexp{
	".repo": lazy.Regexp(`^(\[cuda-[a-z0-9]+-(x86_64|sbsa)\]|name=[A-Za-z0-9 ._-]+|enabled=1|gpgcheck=1|` +
		`baseurl=https://developer\.download\.nvidia\.com/compute/cuda/repos/[a-z0-9]+/(x86_64|sbsa)|` +
		`gpgkey=https://developer\.download\.nvidia\.com/compute/cuda/repos/[a-z0-9]+/(x86_64|sbsa)/[0-9A-F]{8}\.pub)$`),
	".list": lazy.Regexp(
		`^deb \[signed-by=` + regexp.QuoteMeta(
			plan.Keyring,
		) + `\] https://developer\.download\.nvidia\.com/compute/cuda/repos/debian[0-9]{2}/(x86_64|sbsa)/ /$`,
	),
	".conf": lazy.Regexp(`^(#.*|blacklist nouveau|options nouveau modeset=0)$`),
	"":      lazy.Regexp(`^\*?[A-Za-z0-9][A-Za-z0-9+._:*-]*$`), // the record of what is held
}

// rootContent says what may not stand in a file of root's, "" where all may.
func rootContent(w *plan.Write) string {
	grammar, known := rootLines[path.Ext(w.Path)]
	switch {
	case !known:
		return fmt.Sprintf("envfix knows nothing to write into %q", w.Path)
	case w.Mode != 0o644:
		return fmt.Sprintf("%q is for everybody to read", w.Path)
	case path.Ext(w.Path) == ".repo" && !slices.Contains(strings.Split(w.Content, "\n"), "gpgcheck=1"):
		return "the repository's packages would not be checked"
	}
	for line := range strings.Lines(w.Content) {
		if !grammar().MatchString(strings.TrimSuffix(line, "\n")) {
			return fmt.Sprintf("%q may not stand in %s", line, w.Path)
		}
	}
	return ""
}
