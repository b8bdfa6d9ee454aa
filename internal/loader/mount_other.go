//go:build !linux

package loader

func noExec(string) bool { return false }
