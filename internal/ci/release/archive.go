package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"

	"envfix/internal/ci/must"
	"envfix/internal/text"
)

// archives writes a download for each target, which install.sh, Homebrew and scoop
// take: the program, its licence, man pages and completions.
func archives(r *Release) {
	docs := r.docs()
	licence := must.Get(os.ReadFile("LICENSE"))
	for _, t := range r.Targets {
		program := must.Get(os.ReadFile(r.binary(t)))
		entries := []entry{{t.program(), 0o755, program}, {"LICENSE", 0o644, licence}}
		entries = append(entries, text.Each(docs, func(d doc) entry { return entry{d.name, 0o644, d.text} })...)
		b, name := []byte(nil), t.name()+".tar.gz"
		if t.os == "windows" {
			name = t.name() + ".zip"
			z := newZip(r.Time, standard)
			for _, e := range entries {
				z.add(e.name, e.mode, e.data)
			}
			b = z.close()
		} else {
			b = gzipped(tarball(entries, r.Time))
		}
		r.write(name, b, 0o644)
	}
}

// An entry is a file inside an archive.
type entry struct {
	name string
	mode os.FileMode
	data []byte
}

// tarball is an archive whose bytes depend on the entries and the time alone.
func tarball(entries []entry, t time.Time) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		head := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), Size: int64(len(e.data)), ModTime: t, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		must.Do(w.WriteHeader(head))
		must.Get(w.Write(e.data))
	}
	must.Do(w.Close())
	return b.Bytes()
}

func gzipped(b []byte) []byte {
	return through(b, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestCompression) })
}

// through is what a compressor makes of bytes.
func through(b []byte, compressor func(io.Writer) (io.WriteCloser, error)) []byte {
	var out bytes.Buffer
	w := must.Get(compressor(&out))
	must.Get(w.Write(b))
	must.Do(w.Close())
	return out.Bytes()
}
