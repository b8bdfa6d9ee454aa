package read

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

// Every row of data/readers_*.yaml says what there is, of facts that there are, and every word is said.
func TestReaders(t *testing.T) {
	said := map[string]bool{}
	field := func(path string) reflect.Value {
		defer func() {
			if recover() != nil {
				t.Errorf("%s is no fact", path)
			}
		}()
		return (&Case{}).fact(path)
	}
	evidence := reflect.TypeFor[Evidence]()
	for _, x := range know.Embedded().Readers {
		for _, fact := range x.Empty {
			field(fact)
		}
		for _, does := range x.Does {
			how, of, _ := strings.Cut(does, " ")
			said[how] = true
			switch {
			case doers[how] != nil, how == "waits", how == "likely" && slices.Contains([]string{"linux", "windows", "macos"}, of):
			case how == "says", how == "speaks":
				if f := field(of); f.IsValid() && f.Type() != evidence {
					t.Errorf("%s: %s is no evidence", does, of)
				}
			case how == "sets", how == "lowers":
				if f := field(of); f.IsValid() {
					set(f, "12")
				}
			default:
				t.Errorf("%q: nothing does it", does)
			}
		}
	}
	for word := range doers {
		if !said[word] {
			t.Errorf("%s: no row says it", word)
		}
	}
}
