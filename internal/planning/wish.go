package planning

import (
	"reflect"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"
)

// Wished is a request with what was wished for where it is silent. w may be nil.
func Wished(w *plan.Wish, r resolver.Request) resolver.Request {
	if w == nil {
		return r
	}
	if len(r.Requirements) == 0 {
		r.Requirements = pep508.Read(w.Packages, "")
	}
	if r.Build+r.OnlyIndex+r.CUDA+r.Channel == "" && !r.CPU {
		r.Build, r.OnlyIndex = w.Build, w.OnlyIndex
	}
	return r
}

// yield follows the wish no more where the project that was read leaves no answer to it, and
// returns what to say of that.
func (q *Question) yield() (said []string) {
	if q.Wish == nil || q.Read == "" {
		return nil
	}
	without := *q
	without.Wish = nil
	for _, try := range []Question{*q, without} {
		if res, err := try.Choose(); err != nil || (res.Decision == resolver.NoSolution) != (try.Wish != nil) {
			return nil
		}
	}
	said = []string{strings.Join(q.Wish.Words(), " ") + ", as when " + q.Target.Dir + " was made, does not go with " + q.Read + ", which is followed"}
	q.Wish = nil
	return said
}

// remember is what to remember of a question, which r asks: nil where that is nothing. What it
// says of packages that no file says goes before those that were remembered.
func (q Question) remember(r resolver.Request) *plan.Wish {
	w, words := &plan.Wish{Packages: q.Said, Build: r.Build, OnlyIndex: r.OnlyIndex}, q.Words
	if words.Whole { // of a file, which need not be there the next time
		words = describe.Of(q.Machine)
		words.Here = q.Words.Here
	}
	if len(words.GPUs) > 0 { // one that names none is of the machine that is here
		w.Machine = &words
	}
	if before := q.Wish; before != nil {
		w.Remembered = len(q.Said) == 0 && w.Build == before.Build && w.OnlyIndex == before.OnlyIndex && reflect.DeepEqual(w.Machine, before.Machine)
		if len(q.Said) == 0 {
			w.Packages = before.Packages
		}
	}
	if len(w.Words()) == 0 {
		return nil
	}
	return w
}
