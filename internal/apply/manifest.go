package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"envfix/internal/fail"
)

// manifest identifies what is installed in an environment: the hash over every
// distribution's RECORD, which in turn holds the hash of each of its files. It
// returns the number of distributions too. An environment without Python is an
// error.
func manifest(root *os.Root, dir string) (string, int, error) {
	if _, err := root.Lstat(dir + "/pyvenv.cfg"); err != nil {
		return "", 0, &fail.Error{Code: fail.Verify, Text: fmt.Sprintf("%s is not a virtual environment: it has no pyvenv.cfg", dir), Err: err}
	}
	var records []string
	for _, pattern := range []string{"/lib/python*/site-packages/*.dist-info/RECORD", "/Lib/site-packages/*.dist-info/RECORD"} {
		found, err := fs.Glob(root.FS(), dir+pattern)
		if err != nil {
			return "", 0, err
		}
		records = append(records, found...)
	}
	slices.Sort(records)
	h := sha256.New()
	for _, name := range records {
		b, err := root.ReadFile(name)
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintf(h, "%s %d\n", path.Base(path.Dir(name)), len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), len(records), nil
}
