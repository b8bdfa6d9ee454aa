package doctor

import (
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// looks are commands that only look: what an answer asks for next.
var looks = lazy.Regexp("`((?:nvidia-smi|python -c|python --version|printenv|ldconfig|cat|ls|lsmod|lspci|pip (?:list|show|check)|nvcc|rocminfo|id|uname|dkms status)\\b[^`]*)`")

// Then is what a text says once the command that its explanation asks for next was run: what
// is found in both. The first such command is meant, unless the outcome begins with another.
// complete adds to the case what the rules ask beside the text.
func Then(k *know.Knowledge, text, outcome string, complete func(*read.Case)) (Explanation, error) {
	first, err := Explain(k, strings.NewReader(text))
	if err != nil {
		return first, err
	}
	asked := ""
	for _, match := range first.Matches {
		if c := looks().FindStringSubmatch(strings.Join(match.Fix, "\n")); c != nil && asked == "" && !strings.HasPrefix(outcome, "$ ") {
			asked = "$ " + c[1] + "\n"
		}
	}
	r := read.NewReader(k)
	if err := r.Read("", strings.NewReader(text+"\n"+asked+outcome+"\n")); err != nil {
		return first, err
	}
	c := r.Case()
	complete(c)
	return Explanation{Format: Format, Matches: found(k, Examine(k, c).Findings)}, nil
}
