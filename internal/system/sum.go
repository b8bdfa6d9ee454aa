package system

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// FileSum returns the length and the SHA-256 of a file.
func FileSum(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}
