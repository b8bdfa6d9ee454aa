// Package xslices has what package slices of the standard library lacks.
package xslices

import "slices"

// Filter returns the elements that are wanted, in their order; nil for none.
func Filter[T any](of []T, wanted func(T) bool) []T {
	var out []T
	for _, x := range of {
		if wanted(x) {
			out = append(out, x)
		}
	}
	return out
}

// First returns the elements, the wanted ones before the others.
func First[T any](of []T, wanted func(T) bool) []T {
	return append(Filter(of, wanted), Filter(of, func(x T) bool { return !wanted(x) })...)
}

// Find returns the first element that is wanted.
func Find[T any](of []T, wanted func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(of, wanted); i >= 0 {
		return of[i], true
	}
	return found, false
}

// At returns where the first element is that is wanted; nil for none.
func At[T any](of []T, wanted func(T) bool) *T {
	if i := slices.IndexFunc(of, wanted); i >= 0 {
		return &of[i]
	}
	return nil
}

// Add appends an element that is not there yet.
func Add[T comparable](to []T, x T) []T {
	if slices.Contains(to, x) {
		return to
	}
	return append(to, x)
}

// Set returns the names of elements as a set.
func Set[T any](of []T, name func(T) string) map[string]bool {
	out := map[string]bool{}
	for _, x := range of {
		out[name(x)] = true
	}
	return out
}

// Once returns all that is in some lists, each of it once.
func Once[T comparable](lists ...[]T) (out []T) {
	for _, x := range slices.Concat(lists...) {
		out = Add(out, x)
	}
	return out
}

// Admits reports whether a list holds an element; an empty list holds all.
func Admits[T comparable](list []T, x T) bool { return len(list) == 0 || slices.Contains(list, x) }

// Reach returns some names and all that they lead to, by one step or by several.
func Reach(next func(name string) []string, first ...string) map[string]bool {
	out := map[string]bool{}
	for open := slices.Clone(first); len(open) > 0; open = open[1:] {
		if !out[open[0]] {
			out[open[0]] = true
			open = append(open, next(open[0])...)
		}
	}
	return out
}
