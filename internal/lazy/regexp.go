// Package lazy puts off work that most runs of a program do not need.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles a regular expression when it is first used. A hundred of them
// compiled at start-up are 2 ms and 6,000 allocations of every command, and
// most commands use few of them. It panics, then, where the expression is not one.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
