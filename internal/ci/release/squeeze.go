package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"envfix/internal/ci/must"
)

// libdeflate finds the densest form of a deflate stream: what is downloaded most is
// worth seconds of the release's time. One version writes the same bytes everywhere.
const libdeflate = "deflate==0.9.0"

// A squeezer writes bytes as a deflate stream.
type squeezer func([]byte) []byte

// densest is the squeezer of a release.
func (r *Release) densest(b []byte) []byte {
	python := r.python(libdeflate)
	squeeze := command{stdin: b, argv: []string{python, "-c",
		"import sys, deflate\nsys.stdout.buffer.write(deflate.deflate_compress(sys.stdin.buffer.read(), 12))"}}
	out := must.Get(squeeze.output())
	back, err := io.ReadAll(flate.NewReader(bytes.NewReader(out)))
	if err != nil || !bytes.Equal(back, b) {
		must.Do(fmt.Errorf("%s wrote what does not unpack to the same (%v)", libdeflate, err))
	}
	return out
}

// standard is Go's own squeezer.
func standard(b []byte) []byte {
	return through(b, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
}

// python installs a package of the Python index, pinned, into an environment of its
// own, where it is not yet, and returns the Python of that.
func (r *Release) python(requirement string) string {
	dir := filepath.Join(r.Out, ".tools", requirement)
	python, done := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return python
	}
	output("python3", "-m", "venv", "--clear", dir)
	output(python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", requirement)
	must.Do(os.WriteFile(done, nil, 0o644))
	return python
}
