package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"envfix/internal/fail"
	"envfix/internal/ui"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// answer prints v as JSON, or the text for people; code is what the command then ends with.
func answer(w io.Writer, asJSON bool, v any, text string, code int) error {
	var err error
	if asJSON {
		err = writeJSON(w, v)
	} else {
		_, err = io.WriteString(w, text)
	}
	if err == nil && code != fail.OK {
		return &fail.Error{Code: code}
	}
	return err
}

// codeIf is the code where something is so, else that of success.
func codeIf(so bool, code int) int {
	if so {
		return code
	}
	return fail.OK
}

// writePage writes the page of --html and says so.
func writePage(file string, page []byte, err error) error {
	if err != nil {
		return err
	}
	if err := replaceFile(file, page, 0o644); err != nil {
		return fail.Wrong(ui.Clean(file)+": "+reason(err), "`--html` takes a file in a directory that is there")
	}
	fmt.Fprintf(stderr(), "wrote %s\n", ui.Clean(file))
	return nil
}

// replaceFile writes b beside path and renames it there, so that no reader ever
// sees half of it. The mode holds whatever the umask. What is no regular file
// (/dev/stdout, a pipe) is written to, not replaced.
func replaceFile(path string, b []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(b)
		return errors.Join(err, f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}
