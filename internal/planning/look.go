package planning

import "envfix/resolver"

// mostLooks bounds how many wheels an index is asked for: each is another build.
const mostLooks = 3

// look has indexes asked where the answer hangs on wheels of which nobody knows whether
// they exist: they would be a newer torch than the one that is known. What was said is
// kept in the request.
func (q *Question) look(w Ports) {
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
	switch {
	case err != nil:
		return nil
	case b.Choice != nil:
		return b.Choice
	}
	return b.Then
}
