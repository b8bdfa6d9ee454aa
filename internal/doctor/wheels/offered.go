package wheels

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
)

// endsEarly: the list ends with the last torch for this system or this Python, and
// what was asked for is later. It reports whether that is the reason.
func endsEarly(e *evidence.Evidence, out *evidence.Findings, h *evidence.Hit, v string) bool {
	if len(e.Offered) == 0 {
		return false
	}
	last := evidence.Public(e.Offered[len(e.Offered)-1])
	if v != "" && evidence.PythonVersion(v).Compare(evidence.PythonVersion(last)) <= 0 {
		return false
	}
	if mac := e.Limit("intel-mac").Torch; last == mac.String() {
		out.Deny("PY012")
		out.Find("IDX003", evidence.Likely, h.At).
			Says("the list ends with torch %s, the last with wheels for Intel Macs", mac).
			Do(intelMacFix(e, last)...)
		return true
	}
	return false
}

// otherIndex: a build with a label was asked for ("2.7.1+cu128"), and the index has
// the release without the label, or none was named: such builds are on PyTorch's own
// indexes alone.
func otherIndex(e *evidence.Evidence, out *evidence.Findings, h *evidence.Hit, v string) {
	_, label, _ := e.Wanted().Torch()
	if label == "" {
		return
	}
	has := slices.ContainsFunc(e.Offered, func(o string) bool {
		return evidence.Public(o) == v &&
			!strings.HasSuffix(o, "+"+label)
	})
	unnamed := len(e.Offered) == 0 && (e.Did.Index.IsZero() || !e.Did.UVProject.IsZero())
	if !has && !unnamed {
		return
	}
	text := fmt.Sprintf("the index that was asked has torch %s and no +%s build of it: those are on PyTorch's own index",
		v, label)
	if s := e.Did.Index; has && !s.IsZero() {
		out.Find("IDX003", evidence.Likely, h.At, s).
			Says("torch %s is there, and PyTorch's index has no +%s build of it for this system", v, label).
			Do("`pip install torch==" + v + "`")
		return
	}
	if unnamed {
		text = fmt.Sprintf("torch %s+%s was asked for, and no index that has such builds", v, label)
	}
	out.Deny("PY012")
	f := out.Find("IDX001", evidence.Likely, h.At).Say(text)
	if e.Did.UVProject.IsZero() {
		f.Do("`pip install torch==" + v + "+" + label + " --index-url https://download.pytorch.org/whl/" + label + "`")
	} else {
		f.Do("`[[tool.uv.index]]` with the url https://download.pytorch.org/whl/"+label+" and `explicit = true`, "+
			"and `[tool.uv.sources]` that takes torch and torchvision from it",
			"what stands under `[tool.uv.pip]` counts for `uv pip` alone, not for `uv sync` and `uv add`")
	}
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
