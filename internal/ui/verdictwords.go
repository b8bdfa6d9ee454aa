package ui

import (
	"slices"
	"strings"
	"sync"

	"envfix/data"
)

// verdictNames says in a few words what each verdict means, in the order in which
// the help lists them: first what keeps a job off the GPU, then what makes it wait.
var verdictNames = sync.OnceValue(func() (names [][2]string) {
	for line := range strings.Lines(data.Verdicts) {
		if id, means, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			names = append(names, [2]string{id, means})
		}
	}
	return names
})

// verdictTitle is what a verdict means; of an id that is not known, the id in words.
func verdictTitle(id string) string {
	if i := slices.IndexFunc(verdictNames(), func(n [2]string) bool { return n[0] == id }); i >= 0 {
		return verdictNames()[i][1]
	}
	return strings.ReplaceAll(Clean(id), "_", " ")
}

// Verdicts lists what `envfix run` may say, for its help.
func Verdicts() string { return Columns(verdictNames(), 2) }
