package main

import (
	"fmt"
	"io"
)

// buildVersion is the program's own version; a release build sets it by the linker.
var buildVersion = "0.1.0"

// buildCommit is the commit that a release was built from; "" in other builds.
var buildCommit string

// showVersion names the program's version, a release's commit, and the data.
func showVersion(w io.Writer) error {
	m, err := matrixFor()
	if err != nil {
		return err
	}
	commit := ""
	if buildCommit != "" {
		commit = fmt.Sprintf("commit %.12s, ", buildCommit)
	}
	_, err = fmt.Fprintf(w, "envfix %s (%smatrix %s)\n", buildVersion, commit, m.Version)
	return err
}
