package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/owner"

	"envfix/internal/ci/must"
)

// nfpm writes deb and rpm packages, pinned; nfpmConfig says what is in them.
const (
	nfpm       = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"
	nfpmConfig = "internal/ci/release/linux/nfpm.yaml"
)

// linuxPackages writes a deb and an rpm for each Linux.
func linuxPackages(r *Release) {
	beside := r.packaged()
	for _, t := range r.Targets {
		if t.os == "linux" {
			r.linuxPackage(t, "deb", fmt.Sprintf("envfix_%s_%s.deb", r.Version.linux(), t.arch), beside)
			r.linuxPackage(t, "rpm", fmt.Sprintf("envfix-%s-1.%s.rpm", r.Version.linux(), t.machine()), beside)
		}
	}
}

// packaged writes what comes beside the program to a folder, compressed as Debian's
// policy asks.
func (r *Release) packaged() (folder string) {
	folder = filepath.Join(r.Scratch, "packaged")
	must.Do(os.RemoveAll(folder))
	put := func(name string, b []byte) {
		file := filepath.Join(folder, name)
		must.Do(errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b, 0o644)))
	}
	for _, d := range r.docs() {
		if strings.HasPrefix(d.name, "man/") {
			d = doc{d.name + ".gz", gzipped(d.text)}
		}
		put(d.name, d.text)
	}
	put("changelog.gz", gzipped(fmt.Appendf(nil, "envfix (%s) unstable; urgency=medium\n\n  * Release %s; what is new stands in CHANGELOG.md.\n\n -- %s  %s\n",
		r.Version.linux(), r.Version.release, owner.Maintainer, r.Time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))))
	return folder
}

func (r *Release) linuxPackage(t target, kind, name, beside string) {
	made := filepath.Join(r.Scratch, t.name(), name)
	pack := command{argv: []string{"go", "run", nfpm, "package", "--config", nfpmConfig, "--packager", kind, "--target", made},
		env: []string{"GOFLAGS=-mod=mod", "CGO_ENABLED=0", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()),
			"ARCH=" + t.arch, "VERSION=" + r.Version.linux(), "MAINTAINER=" + owner.Maintainer, "PROGRAM=" + r.binary(t), "BESIDE=" + beside}}
	must.Get(pack.output())
	r.write(name, must.Get(os.ReadFile(made)), 0o644)
}
