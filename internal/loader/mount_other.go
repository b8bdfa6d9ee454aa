//go:build !linux

package loader

// NotExecutable is false: mounts are looked at on Linux alone.
func NotExecutable(string) bool { return false }

// NotWritable is false: it is asked on Linux alone.
func NotWritable(string) bool { return false }
