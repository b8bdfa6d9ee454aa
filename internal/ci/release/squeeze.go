package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// libdeflate finds the densest form of a deflate stream: what is downloaded most is
// worth seconds of the release's time. One version writes the same bytes everywhere.
const libdeflate = "deflate==0.9.0"

// A squeezer writes bytes as a deflate stream.
type squeezer func([]byte) ([]byte, error)

// densest is the squeezer of a release.
func (r *Release) densest(b []byte) ([]byte, error) {
	python, err := r.python(libdeflate)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, "-c", "import sys, deflate\nsys.stdout.buffer.write(deflate.deflate_compress(sys.stdin.buffer.read(), 12))")
	var problems bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(b), &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", libdeflate, err, problems.Bytes())
	}
	back, err := io.ReadAll(flate.NewReader(bytes.NewReader(out)))
	if err != nil || !bytes.Equal(back, b) {
		return nil, fmt.Errorf("%s wrote what does not unpack to the same (%v)", libdeflate, err)
	}
	return out, nil
}

// standard is Go's own squeezer.
func standard(b []byte) ([]byte, error) {
	return through(b, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
}

// python installs a package of the Python index, pinned, into an environment of its
// own, where it is not yet, and returns the Python of that.
func (r *Release) python(requirement string) (string, error) {
	dir := filepath.Join(r.Out, ".tools", requirement)
	python, done := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return python, nil
	}
	if _, err := output("python3", "-m", "venv", "--clear", dir); err != nil {
		return "", err
	}
	if _, err := output(python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", requirement); err != nil {
		return "", err
	}
	return python, os.WriteFile(done, nil, 0o644)
}
