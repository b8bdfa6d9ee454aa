package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// buildVersion is the program's own version; a release build sets it by the linker.
var buildVersion = "0.1.0"

// buildCommit is the commit that a release was built from; "" in other builds.
var buildCommit string

// builtAt tells a build of the program from another one of its version, as a clone has them.
func builtAt() (at time.Time) {
	path, _ := os.Executable() // without one there is no file
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime()
	}
	return at
}

// showVersion names the program's version, a release's commit, and the data; with -v also
// whether the kernel keeps commands that read from anything else.
func showVersion(ctx context.Context, w io.Writer, verbose bool) error {
	_, err := fmt.Fprintf(w, "envfix %s (%smatrix %s)\n", buildVersion, say.With("commit ", fmt.Sprintf("%.12s", buildCommit), ", "), dataVersion())
	if err != nil || !verbose {
		return err
	}
	held := "the kernel keeps explain, doctor, plan, why, `lock --check` and `fleet plan` from writing and from starting what a project brings (Landlock)"
	if err := confine(ctx); err != nil {
		held = "nothing but envfix itself keeps commands that read from writing: " + err.Error()
	}
	_, err = fmt.Fprintln(w, text.Printable(held))
	return err
}

// dataVersion is the version of the matrix that a command works with. The one that
// is built in tells it without being decoded.
func dataVersion() string {
	if _, err := os.Stat(matrixStore().Dir); err != nil {
		return matrix.EmbeddedHead().Version
	}
	return matrixFor().Version
}
