package version

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Samples are the versions that specifiers name, and their neighbours on both sides:
// where specifiers meet anywhere, they meet at one of them.
func Samples(specs ...string) []Python {
	var out []Python
	for _, text := range strings.FieldsFunc(strings.Join(specs, ","), func(r rune) bool { return strings.ContainsRune(",=<>!~ ", r) }) {
		for _, near := range neighbours(strings.TrimSuffix(text, ".*")) {
			if v, err := ParsePython(near); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// neighbours are a version, the next above it and one below it: 2.1 has 2.1.0.1 and
// 2.0.99999.
func neighbours(v string) []string {
	out := []string{v, v + ".0.1"}
	parts := strings.Split(v, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
			return append(out, strings.Join(append(parts[:i:i], fmt.Sprint(n-1), "99999"), "."))
		}
	}
	return out
}

// Overlaps reports whether some version may satisfy both specifiers.
func (s Specifier) Overlaps(o Specifier) bool {
	return s.IsZero() || o.IsZero() || slices.ContainsFunc(Samples(s.String(), o.String()), func(v Python) bool { return s.Admits(v) && o.Admits(v) })
}
