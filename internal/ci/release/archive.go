package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"
)

// archives writes a download for each target, which install.sh, Homebrew and scoop
// take: the program, its licence, man pages and completions.
func archives(r *Release) error {
	docs, err := r.docs()
	if err != nil {
		return err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		program, err := os.ReadFile(r.binary(t))
		if err != nil {
			return err
		}
		entries := []entry{{t.program(), 0o755, program}, {"LICENSE", 0o644, licence}}
		for _, d := range docs {
			entries = append(entries, entry{d.name, 0o644, d.text})
		}
		b, name := []byte(nil), t.name()+".tar.gz"
		if t.os == "windows" {
			name = t.name() + ".zip"
			z := newZip(r.Time, standard)
			for _, e := range entries {
				z.add(e.name, e.mode, e.data)
			}
			b, err = z.close()
		} else {
			b, err = tarball(entries, r.Time)
			if err == nil {
				b, err = gzipped(b)
			}
		}
		if err != nil {
			return err
		}
		if err := r.write(name, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// An entry is a file inside an archive.
type entry struct {
	name string
	mode os.FileMode
	data []byte
}

// tarball is an archive whose bytes depend on the entries and the time alone.
func tarball(entries []entry, t time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		head := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), Size: int64(len(e.data)), ModTime: t, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func gzipped(b []byte) ([]byte, error) {
	return through(b, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestCompression) })
}

// through is what a compressor makes of bytes.
func through(b []byte, compressor func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	w, err := compressor(&out)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
