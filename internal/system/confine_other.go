//go:build !linux

package system

import "errors"

// Confine keeps nothing: only Linux has Landlock.
func Confine(_, _ []string) error { return errors.New("only Linux has Landlock") }
