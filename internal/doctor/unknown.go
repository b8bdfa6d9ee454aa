package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// A Stranger is what was read of a text in which no message is known. It names no cause.
type Stranger struct {
	Kind    string   `json:"kind,omitempty"`    // of exception
	Package string   `json:"package,omitempty"` // that raised it, by the last file of the traceback
	Place   string   `json:"place,omitempty"`   // the file, and its line
	Similar []string `json:"similar,omitempty"` // known messages that share most of its words; they are not the same
}

var (
	exceptionLine = lazy.Regexp(`(?m)^\W*(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning))\b`)
	tracebackFile = lazy.Regexp(`File "(?:[^"]*[/\\](?:site|dist)-packages[/\\])?([^"]+)", line (\d+)`)
	anyWord       = lazy.Regexp(`[A-Za-z][A-Za-z_]{2,}`)
)

const (
	maxHeard = 64 << 10 // bytes of a text that are looked at for what it is like
	likeness = 0.5      // of words that two messages share
	maxAlike = 2
	maxLines = 20
	fewWords = 3
)

// unknown reads of a text what can be told without knowing its message.
func unknown(k *know.Knowledge, text string) *Stranger {
	u := &Stranger{}
	if m := exceptionLine().FindAllStringSubmatch(text, -1); m != nil {
		u.Kind = m[len(m)-1][1]
	}
	if m := tracebackFile().FindAllStringSubmatch(text, -1); m != nil {
		file := strings.ReplaceAll(m[len(m)-1][1], `\`, "/")
		u.Place = file + ", line " + m[len(m)-1][2]
		if head, _, inside := strings.Cut(file, "/"); inside && head != "" {
			u.Package = head
		}
	}
	u.Similar = similar(k, text)
	return u
}

// similar returns the examples of the messages that share most words with a line of the text.
func similar(k *know.Knowledge, text string) []string {
	type alike struct {
		share float64
		text  string
	}
	var found []alike
	examples := make([]map[string]bool, len(k.Messages))
	for i, m := range k.Messages {
		examples[i] = wordsOf(m.Example)
	}
	for n, line := range strings.Split(text, "\n") {
		words := wordsOf(line)
		if n >= maxLines || len(words) < fewWords {
			continue
		}
		for i, theirs := range examples {
			both := 0
			for w := range words {
				if theirs[w] {
					both++
				}
			}
			if share := float64(both) / float64(len(words)+len(theirs)-both); both >= fewWords && share >= likeness {
				found = append(found, alike{share, k.Messages[i].Example})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b alike) int { return int(1000*b.share) - int(1000*a.share) })
	var out []string
	for _, f := range found[:min(len(found), maxAlike)] {
		out = xslices.Add(out, f.text)
	}
	return out
}

func wordsOf(line string) map[string]bool {
	return xslices.Set(anyWord().FindAllString(strings.ToLower(line), -1), func(word string) string { return word })
}
