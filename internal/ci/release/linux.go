package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/owner"
	"envfix/internal/text"
	"envfix/internal/xslices"

	"envfix/internal/ci/must"
)

// nfpm writes deb and rpm packages, pinned.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"

// linuxPackages writes a deb and an rpm for each Linux.
func linuxPackages(r *Release) {
	docs := r.docs()
	files := r.packaged(docs)
	for _, t := range r.Targets {
		if t.os != "linux" {
			continue
		}
		for _, kind := range []string{"deb", "rpm"} {
			r.linuxPackage(t, kind, files)
		}
	}
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
func (r *Release) packaged(docs []doc) []packed {
	var out []packed
	add := func(place, only string, b []byte) {
		source := filepath.Join(r.Scratch, "packaged", only, place)
		out = append(out, packed{source, place, map[string]any{"mode": 0o644, "mtime": r.Time.Format("2006-01-02T15:04:05Z")}, only})
		must.Do(errors.Join(os.MkdirAll(filepath.Dir(source), 0o755), os.WriteFile(source, b, 0o644)))
	}
	places := map[string]string{
		"completions/envfix.bash": "/usr/share/bash-completion/completions/envfix",
		"completions/envfix.zsh":  "/usr/share/zsh/vendor-completions/_envfix",
		"completions/envfix.fish": "/usr/share/fish/vendor_completions.d/envfix.fish",
	}
	for _, d := range docs {
		place, text := places[d.name], d.text
		if place == "" {
			place, text = "/usr/share/man/man1/"+filepath.Base(d.name)+".gz", gzipped(d.text)
		}
		add(place, "", text)
	}
	changes := gzipped(fmt.Appendf(nil, "envfix (%s) unstable; urgency=medium\n\n  * Release %s; what is new stands in CHANGELOG.md.\n\n -- %s  %s\n",
		r.Version.linux(), r.Version.release, owner.Maintainer, r.Time.Format("Mon, 02 Jan 2006 15:04:05 -0700")))
	licence := must.Get(os.ReadFile("LICENSE"))
	add("/usr/share/doc/envfix/changelog.gz", "deb", changes)
	add("/usr/share/lintian/overrides/envfix", "deb",
		[]byte("# one program for every C library\nenvfix: statically-linked-binary [usr/bin/envfix]\n"))
	add("/usr/share/doc/envfix/copyright", "deb", []byte(copyright))
	add("/usr/share/licenses/envfix/LICENSE", "rpm", licence)
	return out
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

func (r *Release) linuxPackage(t target, kind string, files []packed) {
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
	b := must.Get(text.Encoded(config, "")) // JSON is YAML, too
	file := filepath.Join(r.Scratch, t.name(), kind+".json")
	name := fmt.Sprintf("envfix_%s_%s.deb", r.Version.linux(), t.arch)
	if kind == "rpm" {
		name = fmt.Sprintf("envfix-%s-1.%s.rpm", r.Version.linux(), t.machine())
	}
	made := filepath.Join(r.Scratch, t.name(), name)
	must.Do(os.WriteFile(file, b, 0o644))
	pack := command{argv: []string{"go", "run", nfpm, "package", "--config", file, "--packager", kind, "--target", made},
		env: []string{"GOFLAGS=-mod=mod", "CGO_ENABLED=0", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix())}}
	must.Get(pack.output())
	r.write(name, must.Get(os.ReadFile(made)), 0o644)
}
