package main

import (
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/testelf"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeLibrary is the script command `library FILE [RUNPATH NEEDED…]`: a shared
// library that a loader can read. $ORIGIN is written as @.
func writeLibrary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: library FILE [RUNPATH NEEDED…]")
	}
	d := testelf.Dynamic{}
	if len(args) > 1 {
		d.RunPath, d.Needed = strings.ReplaceAll(args[1], "@", "$ORIGIN"), args[2:]
	}
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, testelf.Library(testelf.X86_64, d), 0o755))
}
