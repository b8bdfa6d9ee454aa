// Package lazy puts off work that most runs of a program do not need.
package lazy

import (
	"regexp"
	"sync"
)

// An Expression is one that [Regexp] compiles.
type Expression func() *regexp.Regexp

// Group is what its first group captures of a text; "" it does not match.
func (x Expression) Group(text string) string {
	m := x().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// Regexp compiles a regular expression when it is first used. A hundred of them
// compiled at start-up are 2 ms and 6,000 allocations of every command, and
// most commands use few of them. It panics, then, where the expression is not one.
func Regexp(expression string) Expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
