package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// looks are commands that only look: what an answer asks for next.
var looks = lazy.Regexp("`((?:nvidia-smi|python -c|python --version|printenv|ldconfig|cat|ls|lsmod|lspci|(?:python -m )?pip (?:list|show|check)|nvcc|rocminfo|id|uname|dkms status)\\b[^`]*)`")

// mostLooks bounds for how many commands the whole text is examined again.
const mostLooks = 5

// Then is what a text says once a command that its explanation asks for next was run: what
// is found in both. Of several commands the first is meant whose outcome that would decide
// something, unless the outcome begins with one.
// Where it decides nothing, what it looked at is not asked again.
// complete adds to the case what the rules ask beside the text.
func Then(k *know.Knowledge, text, outcome string, complete func(*read.Case)) (told Explanation, err error) {
	first, err := Explain(k, strings.NewReader(text))
	if err != nil {
		return first, err
	}
	var asked []string
	for _, match := range slices.Concat(first.Matches, first.Known) {
		for _, c := range looks().FindAllStringSubmatch(strings.Join(match.Fix, "\n"), -1) {
			asked = append(asked, "$ "+c[1]+"\n")
		}
	}
	if asked = xslices.Once(asked); len(asked) == 0 || strings.HasPrefix(outcome, "$ ") {
		asked = []string{""}
	}
	ask := func(text string) []Match {
		r := read.NewReader(k)
		_ = r.Read("", strings.NewReader(text)) // a string is read
		c := r.Case()
		complete(c)
		return found(k, Examine(k, c).Findings)
	}
	before := slices.Concat(ask(text), []Match{{}})[0]
	for _, command := range asked[:min(len(asked), mostLooks)] {
		if now := ask(text + "\n" + command + outcome + "\n"); len(now) > 0 && !slices.Equal(now[0].Fix, before.Fix) {
			return Explanation{Format: Format, Matches: now}, nil
		}
	}
	first.looked(text + "\n" + asked[0] + outcome + "\n")
	return first, nil
}

// looked takes out of an explanation the looks whose outcome is at hand and decides nothing.
func (x Explanation) looked(text string) {
	for _, m := range [][]Match{x.Matches, x.Known} {
		for i := range m {
			rest := slices.DeleteFunc(slices.Clone(m[i].Fix), func(way string) bool {
				return slices.ContainsFunc(looks().FindAllStringSubmatch(way, -1), func(c []string) bool { return strings.Contains(text, "$ "+c[1]+"\n") })
			})
			if len(rest) == len(m[i].Fix) {
				continue
			}
			if len(rest) == 0 {
				rest = []string{wholeOutput}
			}
			m[i].Text, m[i].Fix = "still, after that: "+m[i].Text, rest
		}
	}
}
