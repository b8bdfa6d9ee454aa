package doctor

import "slices"

// explains reports whether mending a makes b's symptoms go away.
func (e *exam) explains(a, b *finding) bool {
	if a.Check == b.Check {
		return false
	}
	if slices.Contains(a.over, b.Check) {
		return true
	}
	if slices.Contains(b.over, a.Check) {
		return false // what a finding says of a check goes before what its cause says
	}
	if a.Cause == b.Cause {
		return a.weight > b.weight || a.weight == b.weight && a.order < b.order
	}
	if b.Cause == "none" {
		return a.weight >= strong
	}
	for _, c := range e.k.Causes[a.Cause] {
		if c == b.Cause {
			return a.weight >= weak && a.weight+margin >= b.weight && !(e.mutual(a, b) && a.weight <= b.weight)
		}
	}
	return false
}

// mutual reports whether either of two causes may bring about the other.
func (e *exam) mutual(a, b *finding) bool {
	for _, c := range e.k.Causes[b.Cause] {
		if c == a.Cause {
			return true
		}
	}
	return false
}
