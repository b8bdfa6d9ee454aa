// Package say puts sentences together out of parts that may be missing.
package say

import (
	"fmt"
	"slices"
	"strings"
)

// If is a part that is said where something is so.
func If(so bool, part string) string { return Either(so, part, "") }

// Either is what is said, or taken, where something is so, or else.
func Either[T any](so bool, part, otherwise T) T {
	if so {
		return part
	}
	return otherwise
}

// All are the parts that are said.
func All(parts ...string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// List is the parts that are said, with something between them.
func List(between string, parts ...string) string { return strings.Join(All(parts...), between) }

// Counted are some things, equal ones once, with how many they are before them.
func Counted(things []string) (out []string) {
	count := map[string]int{}
	for _, t := range things {
		if count[t]++; count[t] == 1 {
			out = append(out, t)
		}
	}
	for i, t := range out {
		out[i] = If(count[t] > 1, fmt.Sprintf("%d × ", count[t])) + t
	}
	return out
}

// Few are the first of some parts, and how many more there are, in the form that more has.
func Few(parts []string, most int, more string) []string {
	if n := len(parts) - most; n > 0 {
		return append(slices.Clone(parts[:most]), fmt.Sprintf(more, n))
	}
	return parts
}

// With is a word that is known, between what is said around it; "" where there is no word.
func With(before, word, after string) string { return If(word != "", before+word+after) }

// Clock writes 102 seconds as 1:42, and 4000 as 1:06:40.
func Clock(s int) string {
	return Either(s >= 3600, fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60), fmt.Sprintf("%d:%02d", s/60, s%60))
}
