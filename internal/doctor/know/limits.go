package know

import (
	"fmt"
	"strings"

	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A Limit is one fact that rules compare with; limits.yaml says what each means.
type Limit struct {
	Torch  version.Python // zero: the limit is of another kind
	Value  string
	Values []string
	Source string
}

func (k *Knowledge) addLimit(r record, l *Limit) error {
	id := r.one("id")
	if id == "" || k.Limits[id] != nil || l.Source == "" || l.Torch.IsZero() && len(l.Values) == 0 {
		return fmt.Errorf("%q is not a limit, without a source, or there twice", id)
	}
	k.Limits[id] = l
	return nil
}

// before reports whether a torch is known and older than the limit's.
func (l *Limit) Before(v version.Python) bool { return !v.IsZero() && v.Compare(l.Torch) < 0 }

// Of is what a row of two words says of the first; "" there is none.
func (l *Limit) Of(word string) string {
	row, _ := xslices.Find(l.Values, func(row string) bool { return strings.HasPrefix(row, word+" ") })
	return strings.TrimPrefix(row, word+" ")
}
