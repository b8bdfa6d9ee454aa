// Package ui turns values into text for people: plans, refusals, tables and
// hints. It decides nothing and reads nothing; its functions return strings or
// write to the writer they are given.
package ui

import "envfix/internal/text"

// Clean is [text.Escape]: all text from outside passes through it where it is printed.
func Clean(s string) string { return text.Escape(s) }

// CleanLines is Clean for text of several lines: it keeps the line breaks.
func CleanLines(s string) string { return text.EscapeLines(s) }

// Clip is Clean for text that may be long; it keeps at most n characters.
func Clip(s string, n int) string { return text.Cut(text.Escape(s), n) }

// Count is [text.Count].
func Count(n int, noun string) string { return text.Count(n, noun) }
