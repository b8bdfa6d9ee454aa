package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// pip lists the versions that it found: "(from versions: 1.11.0, …, 2.8.0)". What
// the list holds and where it ends tells why the one that was asked for is not in it.

// endsEarly: the list ends with the last torch for this system or this Python, and
// what was asked for is later. It reports whether that is the reason.
func (e *exam) endsEarly(h *read.Hit, v string) bool {
	if len(e.Offered) == 0 {
		return false
	}
	last := read.Public(e.Offered[len(e.Offered)-1])
	if v != "" && pythonVersion(v).Compare(pythonVersion(last)) <= 0 {
		return false
	}
	if mac := e.limit("intel-mac").Torch; last == mac.String() {
		e.drop("PY012")
		e.find("IDX003", likely, h.At).
			says("the list ends with torch %s, the last with wheels for Intel Macs", mac).
			fix(e.intelMacFix(last)...).
			explains("PY012")
		return true
	}
	return false
}

// otherIndex: a build with a label was asked for ("2.7.1+cu128"), and the index has
// the release without the label, or none was named: such builds are on PyTorch's own
// indexes alone.
func (e *exam) otherIndex(h *read.Hit, v string) {
	_, label, _ := e.asked()
	if label == "" {
		return
	}
	has := slices.ContainsFunc(e.Offered, func(o string) bool {
		return read.Public(o) == v &&
			!strings.HasSuffix(o, "+"+label)
	})
	unnamed := len(e.Offered) == 0 && e.Did.Index.IsZero() && e.activePython() != ""
	if !has && !unnamed {
		return
	}
	text := fmt.Sprintf("the index that was asked has torch %s and no +%s build of it: those are on PyTorch's own index",
		v, label)
	if s := e.Did.Index; has && !s.IsZero() {
		e.find("IDX003", likely, h.At, s).
			says("torch %s is there, and PyTorch's index has no +%s build of it for this system", v, label).
			fix("`pip install torch==" + v + "`").
			explains("PY012")
		return
	}
	if unnamed {
		text = fmt.Sprintf("torch %s+%s was asked for, and no index that has such builds", v, label)
	}
	e.find("IDX001", likely, h.At).
		text(text).
		fix(
			"`pip install torch==" + v + "+" + label + " --index-url https://download.pytorch.org/whl/" + label + "`",
		).
		explains("PY012")
}

// indexed is the label of the index that was named: "cu128", "rocm6.4".
func (e *exam) indexed() string {
	if m := indexLabel().FindStringSubmatch(e.Did.Index.Text); m != nil {
		return m[1]
	}
	return ""
}

// foreign reports whether what was not found is no package that PyTorch's own index
// carries for torch's sake.
func foreign(text string) bool {
	m := notFoundName().FindStringSubmatch(text)
	return m != nil && !torchFamily().MatchString(m[1])
}

var (
	notFoundName = lazy.Regexp(`(?i)(?:satisfies the requirement|distribution found for) ([a-z][\w.-]*)`)
	torchFamily  = lazy.Regexp(`(?i)torch|^(?:triton|nvidia-|cuda-|xformers|fbgemm|vllm|numpy|pillow)`)
	ownURL       = lazy.Regexp(`https?://download\.pytorch\.org/whl/[\w./]*\w`)
	ownIndex     = lazy.Regexp(`(?i)(?:--index-url|\s-i)[= ]+https?://download\.pytorch\.org/whl/`)
)
