// Release makes everything that a release of envfix publishes, from one clean
// clone: binaries, archives, wheels, deb and rpm packages,
// a container image, install.sh, checksums, a bill of materials and a statement of
// where it all came from. It publishes nothing.
//
//	go run ./internal/ci/release -out dist
//
// What it makes depends on the commit, the Go toolchain and the pinned tools alone:
// two folders with the same commit give the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/owner"
	"envfix/internal/text"

	"aead.dev/minisign"

	"envfix/internal/ci/must"
)

// A Release is what is made, and what all its parts share.
type Release struct {
	Version version   // of the program, in its several spellings
	Commit  string    // the whole id
	Time    time.Time // of the commit: the time of every file inside
	Out     string    // the folder that everything goes to
	Scratch string    // where the pinned tools and half-made files live
	URL     string    // the folder that the files will be downloaded from; "" not known
	Program string    // that prints its help texts; "" one is built
	Key     string    // the public key of minisign that the release is signed for; "" none
	Targets []target
	squeeze squeezer
	secret  *minisign.PrivateKey
	files   []string // what was made, below Out
}

// A part makes some of a release's files.
type part struct {
	name string
	make func(*Release)
}

// parts in the order in which each finds what it needs.
var parts = []part{
	{"binaries", binaries},
	{"docs", documents},
	{"archives", archives},
	{"wheels", wheels},
	{"linux", linuxPackages},
	{"conda", condaPackages},
	{"image", image},
	{"installer", installer},
	{"manifests", manifests},
	{"sbom", materials},
	{"provenance", provenance},
	{"sums", sums},
}

func main() {
	if err := must.Try(func() { run(os.Args[1:]) }); err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

func run(args []string) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "dist", "the folder to write to")
	url := flags.String("url", owner.ReleaseURL, "the folder that the files will be downloaded from")
	only := flags.String("only", "", "make these parts only, with commas: "+partNames())
	systems := flags.String("targets", "", "for these systems only: linux/amd64,…")
	program := flags.String("program", "", "the envfix that prints the help texts, in place of one built for that")
	dirty := flags.Bool("dirty", false, "allow changes that are not committed")
	must.Do(flags.Parse(args))
	r := newRelease(*out, *dirty)
	r.readKey()
	r.Program = *program
	r.URL, r.squeeze = strings.TrimSuffix(*url, "/"), r.densest
	r.Targets = chosen(*systems)
	names := strings.Split(*only, ",")
	for _, name := range names {
		if name != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			must.Do(fmt.Errorf("there is no part %q; there are %s", name, partNames()))
		}
	}
	for _, p := range parts {
		if *only != "" && !slices.Contains(names, p.name) {
			continue
		}
		began := time.Now()
		if err := must.Try(func() { p.make(r) }); err != nil {
			must.Do(fmt.Errorf("%s: %w", p.name, err))
		}
		fmt.Printf("%-10s %6.1f s\n", p.name, time.Since(began).Seconds())
	}
	r.list()
}

func partNames() string {
	return strings.Join(text.Each(parts, func(p part) string { return p.name }), ",")
}

// write makes a file of the release.
func (r *Release) write(name string, b []byte, mode os.FileMode) {
	r.files = append(r.files, name)
	path := filepath.Join(r.Out, name)
	must.Do(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, mode), os.Chmod(path, mode)))
}

// list prints what was made, by size.
func (r *Release) list() {
	for _, name := range r.files {
		info := must.Get(os.Stat(filepath.Join(r.Out, name)))
		fmt.Printf("%10d  %s\n", info.Size(), name)
	}
}
