package planning

import (
	"cmp"
	"slices"

	"envfix/matrix"
	"envfix/resolver"
)

// mostLooks bounds how many wheels an index is asked for: each is another build. mostReads
// bounds how many packages are read there.
const (
	mostLooks = 3
	mostReads = 6
)

// read has the index asked about what was named by hand and no row tells of, be it a package
// or the releases that are meant: its files, and what the newest wheel among them needs. What was read are rows as all others are.
func (q *Question) read(w Ports) {
	if w.Read == nil {
		return
	}
	var found matrix.Read
	reads := 0
	for _, r := range q.Request.Requirements {
		if r.URL != "" || r.From != "" || slices.Contains(resolver.Companions(), r.Name) || !q.Matrix.Unread(r.Name, r.Spec) || reads == mostReads {
			continue
		}
		reads++
		one := w.Read(r)
		found.Files = append(found.Files, one.Files...)
		found.Extensions = append(found.Extensions, one.Extensions...)
		found.Frameworks = append(found.Frameworks, one.Frameworks...)
	}
	if len(found.Files) > 0 {
		q.Matrix = q.Matrix.With(found)
	}
}

// look has indexes asked where the answer hangs on wheels of which nobody knows whether
// they exist: they would be a newer torch than the one that is known. What was said is
// kept in the request.
func (q *Question) look(w Ports) {
	q.read(w)
	if w.Look == nil {
		return
	}
	suppose, listed := *q, map[string]*resolver.Listed{}
	suppose.Request.Suppose = true
	for range mostLooks {
		suppose.Request.Listed = listed
		c := suppose.settled()
		if c == nil || !c.Unknown || c.Index == nil {
			break
		}
		if known := q.settled(); known != nil && known.Torch == c.Torch {
			break
		}
		l, told := w.Look(c)
		if !told {
			break
		}
		listed[c.Torch+"+"+c.Build] = l
	}
	if len(listed) > 0 {
		q.Request.Listed = listed
	}
}

// settled is what would be installed in the end; nil: nothing.
func (q *Question) settled() *resolver.Choice {
	b, err := q.Brief()
	if err != nil {
		return nil
	}
	return cmp.Or(b.Choice, b.Then)
}
