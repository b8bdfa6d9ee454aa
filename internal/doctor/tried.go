package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// asRoot leads a remedy that is a command of root's which changes something.
var asRoot = lazy.Regexp("^`(sudo [a-z][^`]*)`")

// tried holds the findings against the remedies that were carried out in vain: what was
// done is not advised again, and speaks against its cause, which goes behind what else is
// possible. Where nothing else is, the answer says that this was not it: never that all is
// well.
func tried(findings []Finding, did read.Commands) []Finding {
	done := func(way string) bool {
		m := asRoot().FindStringSubmatch(way)
		return slices.ContainsFunc(did.InVain, func(v string) bool {
			return plain(v) == plain(way) || strings.Contains(v, "=") && strings.Contains(way, "`export "+v+"`")
		}) || m != nil && slices.ContainsFunc(did.Ran, func(l string) bool { return strings.Contains(plain(l), plain(m[1])) })
	}
	if !slices.ContainsFunc(findings, func(f Finding) bool { return slices.ContainsFunc(f.Fix, done) }) {
		return findings
	}
	var open, refuted []Finding
	for _, f := range findings {
		ways := slices.DeleteFunc(slices.Clone(f.Fix), done)
		switch {
		case len(ways) == len(f.Fix) && f.Severity > know.Note:
			open = append(open, f)
			continue
		case len(ways) == len(f.Fix):
		case len(ways) > 0 && (f.Confidence == High || strings.HasPrefix(f.Fix[slices.IndexFunc(f.Fix, done)], "`export ")): // a variable more or less
			f.Fix = ways
			open = append(open, f)
			continue
		case len(ways) > 0:
			f.Text, f.Fix = "less likely, as what was done for it did not help: "+f.Text, ways
		default:
			f.Text, f.Fix = exhausted+f.Text, []string{wholeOutput}
		}
		f.Confidence = min(f.Confidence, Low)
		refuted = append(refuted, f)
	}
	return append(open, refuted...)
}

// wholeOutput is what to give where nothing else is left to do.
const wholeOutput = "the whole output of the program that fails, from its start: `envfix doctor --from FILE`"

// exhausted leads a finding of which every remedy was carried out.
const exhausted = "this was not it, or not all of it: "

// plain is a remedy without the marks and blanks in which its print and a paste of it differ.
func plain(way string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("`=>-\"'", r) {
			return ' '
		}
		return r
	}, way)), " ")
}
