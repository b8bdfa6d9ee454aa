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

// replacedExpr finds that torch gave way to another torch: an arrow between two
// versions, or words.
const replacedExpr = `\b(?:py)?torch\b\W{0,4}(?:version |from )?v?(\d+\.\d+(?:\.\d+)?(?:\.dev\d+)?(?:\+\w+[\w.]*)?)` +
	`\W{0,3}(?:->|=>|\x{2192}|\x{21d2}|(?:was |is |got |gets |been )?(?:replaced|overwritten|downgraded|upgraded|` +
	`changed|swapped) (?:by|with|to)|to|became|instead of)` +
	`\W{0,4}(?:(?:py)?torch\W{0,4})?v?(\d+\.\d+(?:\.\d+)?(?:\.dev\d+)?(?:\+\w+[\w.]*)?)`

var insteadOf = lazy.Regexp(`(?i)instead of`)

// finishedExpr is what programs print when their work on the GPU succeeded, or is under way.
const finishedExpr = `Prompt executed in \d|loaded completely\b|GPU available: True.{0,20}used: True|` +
	`\bInit COMPLETE\b|` +
	`\bNum GPUs = [1-9]|offloaded [1-9]\d*/\d+ layers to GPU|Available KV cache memory: [1-9]|` +
	`^\|\s+\d+\s+N/A\s+N/A\s+\d+\s+C\S*\s+\S.*\s[1-9]\d*MiB \||` +
	`Total progress: 100%|\b100%\|\S*\| ?\d+/\d+ \[`

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

// takenAwayExpr finds what pip says where it removes a build with CUDA.
const takenAwayExpr = `(?:Found existing installation: torch |Successfully uninstalled torch-|Uninstalling torch-)(\d\S*\+cu\d+)`

// Worse reports whether what is there now computes less: it lost its label, or took
// that of the CPU.
func (p Replacement) Worse() bool {
	_, had := version.SplitLocal(p.From)
	_, has := version.SplitLocal(p.To)
	return p.To != "" && had != "" && had != "cpu" && (has == "" || has == "cpu")
}
