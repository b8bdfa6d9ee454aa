package know

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"envfix/internal/lazy"
)

// A Reader is what a line of a text says, and what is done then, as data/readers_torch.yaml explains.
type Reader struct {
	Expr           string
	Does           []string
	None           string   // what the line does not hold beside; "" nothing
	Empty          []string // facts that are not known yet
	Once, Anywhere bool

	once     sync.Once
	re, none func() *regexp.Regexp
}

func (k *Knowledge) addReader(_ record, x *Reader) error {
	for _, expr := range []string{x.Expr, x.None} {
		if _, err := regexp.Compile(expr); err != nil || x.Expr == "" || len(x.Does) == 0 {
			return fmt.Errorf("%q is no reader: %w", x.Expr, err)
		}
	}
	k.Readers = append(k.Readers, x)
	return nil
}

// Denies reports whether a line holds what it must not.
func (x *Reader) Denies(line string) bool {
	return x.None != "" && x.compiled().none().MatchString(line)
}

func (x *Reader) compiled() *Reader {
	x.once.Do(func() { x.re, x.none = lazy.Regexp("(?i)"+x.Expr), lazy.Regexp(x.None) })
	return x
}

// Reads is the expression of the first reader that does something.
func (k *Knowledge) Reads(does string) *regexp.Regexp {
	at := slices.IndexFunc(k.Readers, func(x *Reader) bool { return x.Does[0] == does })
	return k.Readers[at].compiled().re()
}
