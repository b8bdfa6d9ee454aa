package doctor

import (
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// looks are commands that only look: what an answer asks for next.
var looks = lazy.Regexp("`((?:nvidia-smi|python -c|python --version|printenv|ldconfig|cat|ls|lsmod|lspci|pip (?:list|show|check)|nvcc|rocminfo|id|uname|dkms status)\\b[^`]*)`")

// mostLooks bounds for how many commands the whole text is examined again.
const mostLooks = 5

// Then is what a text says once a command that its explanation asks for next was run: what
// is found in both. Of several commands the first is meant whose outcome that would decide
// something, unless the outcome begins with one.
// complete adds to the case what the rules ask beside the text.
func Then(k *know.Knowledge, text, outcome string, complete func(*read.Case)) (told Explanation, err error) {
	first, err := Explain(k, strings.NewReader(text))
	if err != nil {
		return first, err
	}
	var asked []string
	for _, match := range first.Matches {
		for _, c := range looks().FindAllStringSubmatch(strings.Join(match.Fix, "\n"), -1) {
			asked = append(asked, "$ "+c[1]+"\n")
		}
	}
	if asked = xslices.Once(asked); len(asked) == 0 || strings.HasPrefix(outcome, "$ ") {
		asked = []string{""}
	}
	for _, command := range asked[:min(len(asked), mostLooks)] {
		r := read.NewReader(k)
		if err := r.Read("", strings.NewReader(text+"\n"+command+outcome+"\n")); err != nil {
			return first, err
		}
		c := r.Case()
		complete(c)
		now := found(k, Examine(k, c).Findings)
		decides := len(now) > 0 && (len(first.Matches) == 0 || now[0].Text != first.Matches[0].Text)
		if told.Matches == nil || decides {
			told = Explanation{Format: Format, Matches: now}
		}
		if decides {
			break
		}
	}
	return told, nil
}
