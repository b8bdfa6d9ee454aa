package main

import (
	"os"
	"strings"
)

func isDir(arg string) bool {
	info, err := os.Stat(arg)
	// A bare word is a package, whatever directory is called so: torch in its clone.
	return err == nil && info.IsDir() && (arg == "." || arg == ".." || strings.ContainsAny(arg, `/\`))
}
