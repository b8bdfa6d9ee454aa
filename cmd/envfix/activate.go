package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// ready says how a new environment is put into use, and how back, where there was
// another before it.
func ready(dir string, before bool) string {
	text := fmt.Sprintf("envfix: %s is ready", ui.Clean(dir))
	if line := activation(dir, filepath.Base(os.Getenv("SHELL"))); line != "" {
		text += fmt.Sprintf(": `%s` puts it into use", line)
	}
	text += say.If(before, "; `envfix rollback` goes back")
	return text + "\n"
}

// activation is what somebody types in a shell to put the environment into use; ""
// where it has nothing for that.
func activation(dir, shell string) string {
	quoted := text.Command(dir)
	has := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return err == nil
	}
	if runtime.GOOS == "windows" && !has("conda-meta") {
		return ui.Clean(dir) + `\Scripts\activate`
	}
	own := map[string][2]string{ // of uv and the standard library; sh reads none of them, and they not sh's
		"fish": {"source", ".fish"}, "csh": {"source", ".csh"}, "tcsh": {"source", ".csh"}, "nu": {"overlay use", ".nu"},
	}[shell]
	switch script := "/bin/activate" + own[1]; {
	case own[0] != "" && has(script):
		return own[0] + " " + quoted + script
	case has("/bin/activate"):
		return ". " + quoted + "/bin/activate"
	case has("/conda-meta"):
		if !filepath.IsAbs(dir) {
			quoted = "./" + quoted // a bare name is one of conda's own environments
		}
		return "conda activate " + quoted
	}
	return ""
}
