package main

import (
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/place"
	"envfix/internal/say"
	"envfix/internal/ui"
)

// ready says how a new environment is put into use, and how back, where there was
// another before it.
func ready(dir string, before bool) string {
	text := fmt.Sprintf("envfix: %s is ready", ui.Clean(dir))
	if line := place.Activation(dir, filepath.Base(os.Getenv("SHELL"))); line != "" {
		text += fmt.Sprintf(": `%s` puts it into use", line)
	}
	text += say.If(before, "; `envfix rollback` goes back")
	return text + "\n"
}
