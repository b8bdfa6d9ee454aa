package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/ci/must"
	"envfix/internal/say"
)

// rattlerBuild assembles conda packages.
const rattlerBuild = "py-rattler-build==0.73.0"

//go:embed conda.py
var assemble string

// condaPlatform is the target as conda calls it.
func (t target) condaPlatform() string {
	switch t.String() {
	case "linux/arm64":
		return "linux-aarch64"
	case "darwin/arm64":
		return "osx-arm64"
	case "darwin/amd64":
		return "osx-64"
	case "windows/amd64":
		return "win-64"
	}
	return "linux-64"
}

// condaPackages writes a conda package for each target, where a channel has it:
// conda/linux-64/…
func condaPackages(r *Release) {
	docs := r.docs()
	python := r.python(rattlerBuild)
	places := map[string]string{
		"completions/envfix.bash": "share/bash-completion/completions/envfix",
		"completions/envfix.zsh":  "share/zsh/site-functions/_envfix",
		"completions/envfix.fish": "share/fish/vendor_completions.d/envfix.fish",
	}
	for _, t := range r.Targets {
		stage := filepath.Join(r.Scratch, "conda", t.condaPlatform())
		must.Do(os.RemoveAll(stage))
		program := must.Get(os.ReadFile(r.binary(t)))
		put := func(place string, mode os.FileMode, b []byte) {
			name := filepath.Join(stage, place)
			must.Do(errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b, mode)))
		}
		where := say.Either(t.os == "windows", "Library/bin/envfix.exe", "bin/envfix")
		put(where, 0o755, program)
		for _, d := range docs {
			place := cmp.Or(places[d.name], "share/man/man1/"+filepath.Base(d.name))
			if t.os != "windows" {
				put(place, 0o644, d.text)
			}
		}
		r.condaPackage(t, python, stage)
	}
}

func (r *Release) condaPackage(t target, python, stage string) {
	out := filepath.Join(r.Scratch, "conda", "out")
	must.Do(errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)))
	asked := must.Get(json.Marshal(map[string]any{
		"files": stage, "out": out, "version": r.Version.python(), "platform": t.condaPlatform(), "time": r.Time.Unix(), "licence": "LICENSE",
	}))
	output(python, "-c", assemble, string(asked))
	made := append(must.Get(filepath.Glob(out+"/*/*.conda")), must.Get(filepath.Glob(out+"/*.conda"))...)
	if len(made) != 1 {
		must.Do(fmt.Errorf("%s wrote %d packages", rattlerBuild, len(made)))
	}
	r.write("conda/"+t.condaPlatform()+"/"+filepath.Base(made[0]), must.Get(os.ReadFile(made[0])), 0o644)
}
