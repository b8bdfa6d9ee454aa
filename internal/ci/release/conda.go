package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
func condaPackages(r *Release) error {
	docs, err := r.docs()
	if err != nil {
		return err
	}
	python, err := r.python(rattlerBuild)
	if err != nil {
		return err
	}
	places := map[string]string{
		"completions/envfix.bash": "share/bash-completion/completions/envfix",
		"completions/envfix.zsh":  "share/zsh/site-functions/_envfix",
		"completions/envfix.fish": "share/fish/vendor_completions.d/envfix.fish",
	}
	for _, t := range r.Targets {
		stage := filepath.Join(r.Scratch, "conda", t.condaPlatform())
		if err := os.RemoveAll(stage); err != nil {
			return err
		}
		program, err := os.ReadFile(r.binary(t))
		if err != nil {
			return err
		}
		put := func(place string, mode os.FileMode, b []byte) error {
			name := filepath.Join(stage, place)
			return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b, mode))
		}
		where := "bin/envfix"
		if t.os == "windows" {
			where = "Library/bin/envfix.exe"
		}
		err = put(where, 0o755, program)
		for _, d := range docs {
			place := cmp.Or(places[d.name], "share/man/man1/"+filepath.Base(d.name))
			if t.os != "windows" {
				err = errors.Join(err, put(place, 0o644, d.text))
			}
		}
		if err != nil {
			return err
		}
		if err := r.condaPackage(t, python, stage); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) condaPackage(t target, python, stage string) error {
	out := filepath.Join(r.Scratch, "conda", "out")
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	asked, err := json.Marshal(map[string]any{
		"files": stage, "out": out, "version": r.Version.python(), "platform": t.condaPlatform(), "time": r.Time.Unix(), "licence": "LICENSE",
	})
	if err != nil {
		return err
	}
	if _, err := output(python, "-c", assemble, string(asked)); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(out, "*", "*.conda"))
	if err != nil || len(made) != 1 {
		made, err = filepath.Glob(filepath.Join(out, "*.conda"))
	}
	if err != nil || len(made) != 1 {
		return errors.Join(err, errors.New(rattlerBuild+" wrote no package"))
	}
	b, err := os.ReadFile(made[0])
	if err != nil {
		return err
	}
	return r.write("conda/"+t.condaPlatform()+"/"+filepath.Base(made[0]), b, 0o644)
}
