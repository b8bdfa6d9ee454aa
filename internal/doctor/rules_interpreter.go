package doctor

import (
	"path"
	"strings"

	"envfix/internal/doctor/read"
)

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
	if len(e.Interpreters) < 2 {
		return
	}
	a, b := e.Interpreters[0], e.Interpreters[1]
	if directory(a.Path) == directory(b.Path) {
		return
	}
	e.find("PY021", likely, a.At, b.At).
		says("two Pythons are in play: %s and %s", a.Path, b.Path).
		explains("PY002", "PY001")
}

// twoTold: somebody says himself that the list and Python differ.
func (e *exam) twoTold() {
	if s := e.Says.TwoVersions; !s.IsZero() {
		e.find("PY011", likely, s).explains("PY001", "PY016", "PY006")
	}
}

// hereAndNotThere: one Python told torch's version, another does not find it.
func (e *exam) hereAndNotThere() {
	s, missing := e.has("no-module-torch")
	if missing && e.Torch.Rank == read.ByTorch && e.Did.IsolatedBuild.IsZero() {
		e.find("PY021", likely, s, e.Torch.VersionAt).explains("PY002")
	}
}

// isolated: pip builds in an environment of its own, where torch is not (PEP 517).
func (e *exam) isolated() {
	s, missing := e.has("no-module-torch")
	if b := e.Did.IsolatedBuild; missing && !b.IsZero() {
		e.find("TK019", hint, s, b).explains("PY002", "PY021")
	}
}

func directory(file string) string { return path.Dir(strings.ReplaceAll(file, `\`, "/")) }

// listedElsewhere: pip shows a copy of torch that is not the one imported.
func (e *exam) listedElsewhere() {
	imported := strings.Trim(e.Torch.Path, `'"(<`)
	if imported == "" || e.TorchLocation == "" || !strings.ContainsAny(imported, `/\`) {
		return
	}
	clean := func(s string) string {
		return strings.TrimRight(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, `\\`, "/"), `\`, "/")), "/")
	}
	if from, listed := path.Dir(clean(imported)), clean(e.TorchLocation); from != listed &&
		strings.HasSuffix(from, "-packages") {
		e.find("PY011", likely+5, e.Torch.VersionAt, e.From.TorchLocation).
			says("torch is imported from %s, and pip shows the copy in %s", path.Dir(imported), e.TorchLocation).
			explains("PY001", "PY016")
	}
}
