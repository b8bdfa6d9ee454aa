package main

import (
	"encoding/json"
	"fmt"
	"io"

	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeForm writes what is for another program to read, or says why it cannot be.
func writeForm(w io.Writer, form text.Quoted, hints ...string) error {
	if err := form.Err(); err != nil {
		return fail.Wrap(fail.Failed, err, hints...)
	}
	_, err := form.WriteTo(w)
	return err
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

// writePage writes the page of --html and says so.
func writePage(file string, page []byte, err error) error {
	if err != nil {
		return err
	}
	if err := system.Replace(file, []byte(text.Hide(string(page), tokens()...)), 0o644); err != nil {
		return fail.Wrong(ui.Clean(file)+": "+fail.Reason(err), "`--html` takes a file in a directory that is there")
	}
	fmt.Fprintf(stderr(), "wrote %s\n", ui.Clean(file))
	return nil
}
