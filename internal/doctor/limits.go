package doctor

import (
	"fmt"

	"envfix/internal/version"
)

// A Limit is one fact that rules compare with; limits.yaml says what each means.
type Limit struct {
	Torch  version.Python
	Value  string
	Values []string
	Source string
}

func (k *Knowledge) addLimit(r record) error {
	if err := known(r, "id", "torch", "value", "values", "note", "source"); err != nil {
		return err
	}
	id := r.one("id")
	l := &Limit{Torch: pythonVersion(r.one("torch")), Value: r.one("value"), Values: r.keys["values"], Source: r.one("source")}
	if id == "" || k.Limits[id] != nil || l.Source == "" || l.Torch.IsZero() && len(l.Values) == 0 {
		return fmt.Errorf("%q is not a limit, without a source, or there twice", id)
	}
	k.Limits[id] = l
	return nil
}

// limit returns a limit that limits.yaml has; a test looks for each that is used.
func (e *exam) limit(id string) *Limit { return e.k.Limits[id] }

// before reports whether a torch is known and older than the limit's.
func (l *Limit) before(v version.Python) bool { return !v.IsZero() && v.Compare(l.Torch) < 0 }
