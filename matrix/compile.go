package matrix

import (
	"encoding/hex"
	"errors"

	"envfix/internal/compiled"
)

// Compile returns the compiled form of a matrix that was loaded from files.
func Compile(m *Matrix) ([]byte, error) {
	sum, err := fileSum(m.SHA256)
	if err != nil {
		return nil, errors.New("a matrix that was not loaded from files cannot be compiled")
	}
	return compiled.Encode(*m, sum), nil
}

func fileSum(sha256 string) (sum [32]byte, err error) {
	if n, err := hex.Decode(sum[:], []byte(sha256)); err != nil || n != len(sum) {
		return sum, errors.New("not a SHA256")
	}
	return sum, nil
}

// Decompile reads a compiled matrix of files with this SHA256; nil: it is of
// other files, or of another program.
func Decompile(blob, sha256 string) *Matrix {
	sum, err := fileSum(sha256)
	if err != nil || !compiled.Of(blob, Matrix{}, sum) {
		return nil
	}
	m, err := decompile(blob)
	if err != nil {
		return nil
	}
	return m
}

func decompile(blob string) (*Matrix, error) {
	m := &Matrix{}
	if err := compiled.Decode(blob, m); err != nil {
		return nil, err
	}
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			b.Release = r
		}
	}
	m.index = newIndex(m)
	return m, nil
}
