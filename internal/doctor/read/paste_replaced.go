package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/version"
)

// A Replacement is that a package took the place of another version of itself.
type Replacement struct {
	From, To string // versions with their labels
	At       Evidence
}

var insteadOf = lazy.Regexp(`(?i)instead of`)

// replaced takes in that torch was replaced.
func (r *Reader) replaced(m []string, s Evidence) {
	from, to := strings.TrimRight(m[1], "."), strings.TrimRight(m[2], ".")
	if insteadOf().MatchString(m[0]) {
		from, to = to, from
	}
	if from == to || r.c.Replaced.To != "" {
		return
	}
	r.c.Replaced = Replacement{From: from, To: to, At: s}
	r.torch(to, ByTorch, s)
}

// changed takes in a line of what uv did, or of two freezes set against each other:
// "- torch==2.6.0+cu124", then "+ torch==2.6.0+cpu".
func (r *Reader) changed(m []string, s Evidence) {
	switch {
	case m[1] == "-":
		r.uninstalled, r.uninstalledAt = m[2], s
	case r.uninstalled != "" && r.uninstalled != m[2] && r.c.Replaced.To == "":
		r.c.Replaced = Replacement{From: r.uninstalled, To: m[2], At: r.uninstalledAt}
		r.torch(m[2], ByTorch, s)
	}
}

// takenAway takes in that pip removed a torch with its label, before it installs another.
func (r *Reader) takenAway(m []string, s Evidence) {
	if r.c.Replaced.From == "" {
		r.c.Replaced = Replacement{From: m[1], At: s}
	}
}

// Worse reports whether what is there now computes less: it lost its label, or took
// that of the CPU.
func (p Replacement) Worse() bool {
	_, had := version.SplitLocal(p.From)
	_, has := version.SplitLocal(p.To)
	return p.To != "" && had != "" && had != "cpu" && (has == "" || has == "cpu")
}
