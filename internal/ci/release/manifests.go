package main

import (
	"embed"
	"os"
	"path/filepath"

	"envfix/internal/ci/must"
	"envfix/internal/say"
)

//go:embed manifests
var manifestForms embed.FS

// manifests writes what Homebrew and scoop read. Both name addresses and digests, so
// they are made only where it is known where the files will be. A slot of a form with a
// file's name is that file's digest.
func manifests(r *Release) {
	if r.URL == "" {
		return
	}
	slots := map[string]string{"URL": r.URL, "VERSION": r.Version.python()}
	for _, t := range r.Targets {
		name := t.name() + say.Either(t.os == "windows", ".zip", ".tar.gz")
		slots[name] = digest(filepath.Join(r.Out, name))
	}
	for _, name := range []string{"envfix.scoop.json", "envfix.rb"} {
		form := must.Get(manifestForms.ReadFile("manifests/" + name))
		r.write(name, []byte(os.Expand(string(form), func(slot string) string { return slots[slot] })), 0o644)
	}
}
