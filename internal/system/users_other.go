//go:build !linux

package system

// Users returns nil: only Linux tells what other processes use.
func Users(string) []int { return nil }

// Openers returns nil: only Linux tells who holds a file open.
func Openers(string, string) []int { return nil }
