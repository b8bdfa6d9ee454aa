package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/owner"
	"envfix/internal/xslices"
)

// nfpm writes deb and rpm packages, pinned.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"

// linuxPackages writes a deb and an rpm for each Linux.
func linuxPackages(r *Release) error {
	docs, err := r.docs()
	if err != nil {
		return err
	}
	files, err := r.packaged(docs)
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		if t.os != "linux" {
			continue
		}
		for _, kind := range []string{"deb", "rpm"} {
			if err := r.linuxPackage(t, kind, files); err != nil {
				return err
			}
		}
	}
	return nil
}

// A packed is a file of a package: nfpm's words.
type packed struct {
	Source string         `json:"src"`
	Place  string         `json:"dst"`
	Info   map[string]any `json:"file_info"`
	only   string         // the kind of package; "" all
}

// packaged writes what comes beside the program to the scratch folder, compressed as
// Debian's policy asks, and says where in a package it goes.
func (r *Release) packaged(docs []doc) ([]packed, error) {
	var out []packed
	add := func(place, only string, mode os.FileMode, b []byte) error {
		source := filepath.Join(r.Scratch, "packaged", only, place)
		out = append(out, packed{source, place, map[string]any{"mode": int(mode), "mtime": r.Time.Format("2006-01-02T15:04:05Z")}, only})
		return errors.Join(os.MkdirAll(filepath.Dir(source), 0o755), os.WriteFile(source, b, mode))
	}
	places := map[string]string{
		"completions/envfix.bash": "/usr/share/bash-completion/completions/envfix",
		"completions/envfix.zsh":  "/usr/share/zsh/vendor-completions/_envfix",
		"completions/envfix.fish": "/usr/share/fish/vendor_completions.d/envfix.fish",
	}
	for _, d := range docs {
		place, text := places[d.name], d.text
		if place == "" {
			b, err := gzipped(d.text)
			if err != nil {
				return nil, err
			}
			place, text = "/usr/share/man/man1/"+filepath.Base(d.name)+".gz", b
		}
		if err := add(place, "", 0o644, text); err != nil {
			return nil, err
		}
	}
	changes, err := gzipped(fmt.Appendf(nil, "envfix (%s) unstable; urgency=medium\n\n  * Release %s; what is new stands in CHANGELOG.md.\n\n -- %s  %s\n",
		r.Version.linux(), r.Version.release, owner.Maintainer, r.Time.Format("Mon, 02 Jan 2006 15:04:05 -0700")))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	return out, errors.Join(
		add("/usr/share/doc/envfix/changelog.gz", "deb", 0o644, changes),
		add(
			"/usr/share/lintian/overrides/envfix",
			"deb",
			0o644,
			[]byte("# one program for every C library\nenvfix: statically-linked-binary [usr/bin/envfix]\n"),
		),
		add("/usr/share/doc/envfix/copyright", "deb", 0o644, []byte(copyright)),
		add("/usr/share/licenses/envfix/LICENSE", "rpm", 0o644, licence),
	)
}

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: envfix

Files: *
Copyright: 2026 the envfix authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
`

func (r *Release) linuxPackage(t target, kind string, files []packed) error {
	contents := []packed{{r.binary(t), "/usr/bin/envfix", map[string]any{"mode": 0o755, "mtime": r.Time.Format("2006-01-02T15:04:05Z")}, ""}}
	contents = append(contents, xslices.Filter(files, func(f packed) bool { return f.only == "" || f.only == kind })...)
	config := map[string]any{
		"name": "envfix", "arch": t.arch, "platform": "linux", "version": r.Version.linux(), "version_schema": "none", "section": "utils", "priority": "optional",
		"maintainer": owner.Maintainer, "license": "Apache-2.0", "mtime": r.Time.Format("2006-01-02T15:04:05Z"),
		"description": "gets PyTorch to run on the GPU that is there\nIt reads the GPUs and the driver, chooses the driver, CUDA, cuDNN and PyTorch\ncombination that runs on them, says why, shows every step, and carries the\nsteps out so that a machine is never left worse.",
		"contents":    contents,
		"rpm":         map[string]any{"buildhost": "localhost", "group": "Applications/System"},
		"deb":         map[string]any{"compression": "xz"},
	}
	var b bytes.Buffer // JSON is YAML, too
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(config); err != nil {
		return err
	}
	file := filepath.Join(r.Scratch, t.name(), kind+".json")
	name := fmt.Sprintf("envfix_%s_%s.deb", r.Version.linux(), t.arch)
	if kind == "rpm" {
		name = fmt.Sprintf("envfix-%s-1.%s.rpm", r.Version.linux(), t.machine())
	}
	made := filepath.Join(r.Scratch, t.name(), name)
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	pack := command{argv: []string{"go", "run", nfpm, "package", "--config", file, "--packager", kind, "--target", made},
		env: []string{"GOFLAGS=-mod=mod", "CGO_ENABLED=0", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix())}}
	if _, err := pack.output(); err != nil {
		return err
	}
	bytes, err := os.ReadFile(made)
	if err != nil {
		return err
	}
	return r.write(name, bytes, 0o644)
}
