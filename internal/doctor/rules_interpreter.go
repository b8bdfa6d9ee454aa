package doctor

import (
	"fmt"
	"path"
	"strings"

	"envfix/internal/lazy"
)

// interpreterReaders read which Python runs and where pip says that torch lies.
var interpreterReaders = []reader{
	{`\bpip3? show (?:-f )?(torch)\b|^\s*Name\s*:\s*(\S+)\s*$`, func(r *Reader, m []string, s Said) { r.showing = normal(m[1] + m[2]) }},
	{`^\s*Version\s*:\s*(\d\S*)\s*$`, func(r *Reader, m []string, s Said) {
		if r.showing == "torch" {
			r.addPackage(Package{Name: r.showing, Version: m[1], Tool: "pip", Said: s})
		}
	}},
	{`^\s*Location\s*:\s*(\S.*)$`, func(r *Reader, m []string, s Said) {
		if r.showing == "torch" {
			r.c.shown = strings.TrimSpace(m[1])
			r.c.say("torch-location", s)
		}
		r.showing = ""
	}},
	{`\b(?:pip3?|conda|uv pip)\b.{0,12}\b(?:list|show|freeze)\b`, (*Reader).twoVersions},
	{`sys\.executable\b[^/\\]*?(` + pythonPath + `)`, func(r *Reader, m []string, s Said) { r.interpreter(m[1], s) }},
	{`sys\.executable\b`, func(r *Reader, m []string, s Said) {
		if !strings.Contains(s.Text, "/") && !strings.Contains(s.Text, `\`) {
			r.wait = "sys.executable"
		}
	}},
}

// twoVersions notes a line that sets what a list of packages says against what
// Python says.
func (r *Reader) twoVersions(m []string, s Said) {
	if !imports().MatchString(r.whole) {
		return
	}
	seen := map[string]bool{}
	for _, v := range fullVersion().FindAllString(r.whole, -1) {
		seen[v] = true
	}
	for v := range seen {
		for o := range seen {
			if v != o && public(v) == o {
				delete(seen, o) // the same without its label
			}
		}
	}
	if len(seen) == 2 {
		r.c.say("two-versions", s)
	}
}

var (
	imports     = lazy.Regexp(`(?i)__version__|import torch|\bpython\w*\b.{0,20}(?:prints?|says|gives|shows|reports)`)
	fullVersion = lazy.Regexp(`\b[012]\.\d{1,2}\.\d\b(?:\+\w+)?`)
)

// pythonPath is an interpreter with its directory.
const pythonPath = `(?:[a-z]:\\|/|~/)[^'"\n]*python[\w.]*(?:\.exe)?`

// interpreter notes one Python that somebody says is running.
func (r *Reader) interpreter(file string, s Said) {
	file = strings.ToLower(strings.ReplaceAll(strings.Trim(file, `'" `), `\\`, `\`))
	for _, i := range r.c.interpreters {
		if i.path == file {
			return
		}
	}
	if len(r.c.interpreters) < 8 {
		r.c.interpreters = append(r.c.interpreters, interpreter{file, s})
	}
}

// An interpreter is a Python as sys.executable names it.
type interpreter struct {
	path string
	said Said
}

// interpreterRules look at which Python and which copy of torch runs.
var interpreterRules = []rule{
	{[]string{"PY021"}, "two values of sys.executable", (*exam).twoInterpreters},
	{[]string{"PY011"}, "a line with the version of a list and that of Python", (*exam).twoTold},
	{[]string{"PY021"}, "a Python that has torch, and one that does not", (*exam).hereAndNotThere},
	{[]string{"TK019"}, "a build that does not find torch", (*exam).isolated},
	{[]string{"PY011"}, "where torch was imported from, and where pip shows it", (*exam).listedElsewhere},
}

// twoInterpreters: what works in one Python says nothing of another. python and
// python3.11 of one directory are one.
func (e *exam) twoInterpreters() {
	if len(e.interpreters) < 2 {
		return
	}
	a, b := e.interpreters[0], e.interpreters[1]
	if directory(a.path) == directory(b.path) {
		return
	}
	e.find("PY021", likely, Finding{Text: fmt.Sprintf("two Pythons are in play: %s and %s", a.path, b.path)}, a.said, b.said).over = []string{"PY002", "PY001"}
}

// twoTold: somebody says himself that the list and Python differ.
func (e *exam) twoTold() {
	if s := e.fact("two-versions"); !s.IsZero() {
		e.find("PY011", likely, Finding{}, s).over = []string{"PY001", "PY016", "PY006"}
	}
}

// hereAndNotThere: one Python told torch's version, another does not find it.
func (e *exam) hereAndNotThere() {
	s, missing := e.has("no-module-torch")
	if missing && e.Torch.rank == byTorch && e.fact("isolated-build").IsZero() {
		e.find("PY021", likely, Finding{}, s, e.Torch.VersionSaid).over = []string{"PY002"}
	}
}

// isolated: pip builds in an environment of its own, where torch is not (PEP 517).
func (e *exam) isolated() {
	s, missing := e.has("no-module-torch")
	if b := e.fact("isolated-build"); missing && !b.IsZero() {
		e.find("TK019", hint, Finding{}, s, b).over = []string{"PY002", "PY021"}
	}
}

func directory(file string) string { return path.Dir(strings.ReplaceAll(file, `\`, "/")) }

// listedElsewhere: pip shows a copy of torch that is not the one imported.
func (e *exam) listedElsewhere() {
	imported := strings.Trim(e.Torch.Path, `'"(<`)
	if imported == "" || e.shown == "" || !strings.ContainsAny(imported, `/\`) {
		return
	}
	clean := func(s string) string {
		return strings.TrimRight(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, `\\`, "/"), `\`, "/")), "/")
	}
	if from, listed := path.Dir(clean(imported)), clean(e.shown); from != listed && strings.HasSuffix(from, "-packages") {
		e.find("PY011", likely+5, Finding{Text: fmt.Sprintf("torch is imported from %s, and pip shows the copy in %s", path.Dir(imported), e.shown)}, e.Torch.VersionSaid, e.fact("torch-location")).over = []string{"PY001", "PY016"}
	}
}
