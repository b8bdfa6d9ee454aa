package plan

import "strings"

// Mirrors say where files are really fetched.
type Mirrors struct {
	Default string      // in place of the installer's default index; "" that one
	Pairs   [][2]string // FROM, TO: prefixes of URLs
}

// ParseMirrors reads FROM=TO pairs that are known to be well-formed; default=URL is
// the default index.
func ParseMirrors(pairs []string) (m Mirrors) {
	for _, pair := range pairs {
		from, to, _ := strings.Cut(pair, "=")
		if from == "default" {
			m.Default = to
		} else {
			m.Pairs = append(m.Pairs, [2]string{from, to})
		}
	}
	return m
}

// There returns where a URL is really fetched.
func (m Mirrors) There(url string) string {
	for _, pair := range m.Pairs {
		if there, ok := Moved(url, pair[0], pair[1]); ok {
			return there
		}
	}
	return url
}

// Moved is the address that stands for url where what begins with from is found at
// to; ok is false where url is not below from.
func Moved(url, from, to string) (moved string, ok bool) {
	rest, ok := strings.CutPrefix(url, strings.TrimSuffix(from, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return url, false
	}
	return strings.TrimSuffix(to, "/") + rest, true
}
