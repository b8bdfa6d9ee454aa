package doctor

import "regexp/syntax"

// literals returns strings in lower case of which every match of an expression
// contains at least one, or nil where there is no such set. They let a scan pass
// over nearly every line without trying the expression.
func literals(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return required(re.Simplify())
}

// maxExact bounds the sets of strings that an expression is multiplied out to.
const maxExact = 128

// exact returns every string in lower case that an expression matches, where
// they are few; nil otherwise. Assertions match the empty string.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		b := make([]byte, 0, len(re.Rune))
		for _, r := range re.Rune {
			if r > 0x7f {
				return nil
			}
			b = append(b, lower(byte(r)))
		}
		return []string{string(b)}
	case syntax.OpCharClass:
		var out []string
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(out) > 12 || r < 0x20 {
					return nil
				}
				if r <= 0x7f { // K's and s's other forms do not occur in what is pasted here
					out = append(out, string(lower(byte(r))))
				}
			}
		}
		return out
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if e := exact(re.Sub[0]); e != nil {
			return append([]string{""}, e...)
		}
	case syntax.OpConcat:
		return product(re.Sub)
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			e := exact(s)
			if e == nil || len(all)+len(e) > maxExact {
				return nil
			}
			all = append(all, e...)
		}
		return all
	}
	return nil
}

func product(subs []*syntax.Regexp) []string {
	all := []string{""}
	for _, s := range subs {
		e := exact(s)
		if e == nil || len(all)*len(e) > maxExact {
			return nil
		}
		next := make([]string, 0, len(all)*len(e))
		for _, a := range all {
			for _, b := range e {
				next = append(next, a+b)
			}
		}
		all = next
	}
	return all
}

func required(re *syntax.Regexp) []string {
	if e := exact(re); shortest(e) > 0 {
		return e
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		return bestOf(re.Sub)
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			l := required(s)
			if l == nil {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// bestOf is the set of a sequence whose shortest string is the longest: of one of
// its parts, or of parts in a row that can be multiplied out.
func bestOf(subs []*syntax.Regexp) []string {
	var best []string
	take := func(l []string) {
		if shortest(l) > shortest(best) {
			best = l
		}
	}
	for i := range subs {
		take(required(subs[i]))
		for j := i + 2; j <= len(subs) && j <= i+6; j++ {
			row := product(subs[i:j])
			if row == nil {
				// what follows may still be needed whole: R(TX|adeon.*)
				if head := product(subs[i : j-1]); head != nil && subs[j-1].Op == syntax.OpAlternate {
					take(crossed(head, subs[j-1]))
				}
				break
			}
			take(row)
		}
	}
	return best
}

// crossed puts a head before the needed beginning of each alternative.
func crossed(heads []string, alt *syntax.Regexp) []string {
	var out []string
	for _, s := range alt.Sub {
		e := beginning(s)
		for _, h := range heads {
			for _, b := range e {
				out = append(out, h+b)
			}
		}
		if e == nil || len(out) > maxExact {
			return nil
		}
	}
	return out
}

// beginning returns the strings that a match begins with, nil where unknown.
func beginning(re *syntax.Regexp) []string {
	if e := exact(re); e != nil {
		return e
	}
	if re.Op == syntax.OpCapture {
		return beginning(re.Sub[0])
	}
	if re.Op == syntax.OpConcat {
		n := len(re.Sub)
		for n > 0 {
			if p := product(re.Sub[:n]); p != nil {
				return p
			}
			n--
		}
	}
	return nil
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
