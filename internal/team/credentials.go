package team

import "strings"

// uvVariable is the beginning of uv's variables for the credentials of an index:
// UV_INDEX_<NAME>_USERNAME, its name in capitals with _ for what is neither a letter
// nor a digit (uv's documentation, "Providing credentials directly").
func uvVariable(name string) string {
	return "UV_INDEX_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}
