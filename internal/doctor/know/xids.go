package know

import (
	"fmt"
	"strconv"
)

// An Xid is what one code of NVIDIA's kernel module means.
type Xid struct {
	Check    string
	Severity *Severity // nil: the check's own
	Text     string
	Fix      []string
	Source   string
}

func (k *Knowledge) addXid(r record, x *Xid) error {
	check := k.Checks[x.Check]
	if check == nil || x.Text == "" || x.Source == "" || len(r.keys["ids"]) == 0 {
		return fmt.Errorf("no check %q, or no ids, text or source", x.Check)
	}
	if len(x.Fix) == 0 {
		x.Fix = check.Fix
	}
	for _, id := range r.keys["ids"] {
		n, err := strconv.Atoi(id)
		if err != nil || k.Xids[n] != nil {
			return fmt.Errorf("%q is not an Xid, or there twice", id)
		}
		k.Xids[n] = x
	}
	return nil
}
