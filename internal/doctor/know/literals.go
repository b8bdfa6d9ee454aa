package know

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"

	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A branch is one way in which an expression may match: through a line that holds
// the literal, and of each further set at least one string. All are folded ([fold]).
type branch struct {
	literal string
	more    [][]string
}

// branches returns the ways in which an expression may match, or nil where there
// is one without a literal of two bytes. They let a scan pass over nearly every
// line without trying the expression.
func branches(expr string) []branch {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return ways(re.Simplify())
}

func ways(re *syntax.Regexp) (out []branch) {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return ways(re.Sub[0])
	case syntax.OpAlternate:
		var all []branch
		for _, s := range re.Sub {
			w := ways(s)
			if w == nil {
				return nil
			}
			all = append(all, w...)
		}
		return all
	case syntax.OpConcat:
		if w := sequence(flat(re.Sub)); w != nil {
			return w
		}
		// R(TX|adeon.*): each alternative with what stands around it.
		for i, s := range re.Sub {
			if s.Op == syntax.OpCapture {
				s = s.Sub[0]
			}
			if s.Op != syntax.OpAlternate {
				continue
			}
			each := &syntax.Regexp{Op: syntax.OpAlternate}
			for _, a := range s.Sub {
				subs := append(append(append([]*syntax.Regexp{}, re.Sub[:i]...), a), re.Sub[i+1:]...)
				each.Sub = append(each.Sub, &syntax.Regexp{Op: syntax.OpConcat, Sub: flat(subs)})
			}
			if all := ways(each); all != nil && len(all) <= maxExact {
				return all
			}
		}
		return nil
	}
	if set := required(re); shortest(set) >= minLiteral {
		out = append(out, text.Each(set, func(l string) branch { return branch{literal: l} })...)
	}
	return out
}

// flat puts the parts of nested sequences in one row.
func flat(subs []*syntax.Regexp) (out []*syntax.Regexp) {
	for _, s := range subs {
		if s.Op == syntax.OpConcat {
			out = append(out, flat(s.Sub)...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// sequence returns the branches of parts in a row: the set that says most, and
// the others as conditions.
func sequence(subs []*syntax.Regexp) []branch {
	best := bestOf(subs)
	if shortest(best) < minLiteral {
		return nil
	}
	var more [][]string
	for _, s := range subs {
		if set := required(s); shortest(set) >= 2 && len(set) <= 24 && !same(set, best) {
			more = append(more, set)
		}
	}
	return text.Each(best, func(l string) branch { return branch{l, more} })
}

func same(a, b []string) bool { return len(a) == len(b) && a[0] == b[0] }

// minLiteral is the shortest literal worth looking for, in bytes.
const minLiteral = 2

// maxExact bounds the sets of strings that an expression is multiplied out to.
const maxExact = 512

// ofClass is exact of a class of characters.
func ofClass(re *syntax.Regexp) (out []string) {
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(out) > 12 || r < 0x20 {
				return nil
			}
			out = xslices.Add(out, string(fold(r)))
		}
	}
	return out
}

// exact returns every folded string that an expression matches, where
// they are few; nil otherwise. Assertions match the empty string.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		b := make([]byte, 0, len(re.Rune))
		for _, r := range re.Rune {
			b = utf8.AppendRune(b, fold(r))
		}
		return []string{string(b)}
	case syntax.OpCharClass:
		return ofClass(re)
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
			next = append(next, text.Each(e, func(b string) string { return a + b })...)
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
func bestOf(subs []*syntax.Regexp) (best []string) {
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
				break
			}
			take(row)
		}
	}
	return best
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	return len(slices.MinFunc(set, func(a, b string) int { return len(a) - len(b) }))
}

// fold returns the one character that stands for all that differ from r in case alone,
// as expressions see it: the least of them, of ASCII its small letter.
func fold(r rune) rune {
	if r >= utf8.RuneSelf && (r < 0x2e80 || r > 0xa63f) { // between them are those of China and Japan, which have no case
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		r = least
	}
	if r < utf8.RuneSelf {
		return rune(lower(byte(r)))
	}
	return r
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
