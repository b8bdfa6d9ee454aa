package machine

import (
	"regexp"
	"sync"
)

// lazy compiles a regular expression when it is first used: a program that starts
// in milliseconds cannot afford those that it does not need.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
