package plan

import "strings"

// Moved is the address that stands for url where what begins with from is found at
// to; ok is false where url is not below from.
func Moved(url, from, to string) (moved string, ok bool) {
	rest, ok := strings.CutPrefix(url, strings.TrimSuffix(from, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return url, false
	}
	return strings.TrimSuffix(to, "/") + rest, true
}
