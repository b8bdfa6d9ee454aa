package propose

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"envfix/internal/index"
	"envfix/internal/modules"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Source is a package that has no wheel: its archive has to be built where it is
// installed. What it requires is read out of the archive; nothing of it is run.
type Source struct {
	Name, Version string
	Requires      []string // PEP 508
	Read          string   // where Requires stands in the archive; "" nowhere, so they are not known
	Kind          string   // pure, compiler, CUDA: what building it needs; stub: it fetches a wheel from elsewhere
	Pythons       []string // that its classifiers name
	Imports       []string // modules of torch's family that its sources import
	Limits        []string // of what its setup.py imports and no later release brings: "setuptools<=81.0.0"
}

// metadata is what uv is told of it in place of building it.
func (s Source) metadata() string {
	requires := text.Each(s.Requires, text.JSON)
	return text.Form("[[dependency-metadata]]\nname = %s\nversion = %s\nrequires-dist = [%s]", text.JSON(s.Name), text.JSON(s.Version), text.Join(requires, ", ")).String()
}

// Limits of an archive: the largest of packages beside torch, dictionaries, have 50 MB.
const (
	maxArchive = 64 << 20
	maxContent = 400 << 20
	maxMember  = 1 << 20
	maxMembers = 32 // that are kept: an archive of zeros holds a thousand times its size
)

// source reads the archive of one version.
func source(ctx context.Context, c *index.Client, f index.File, name, version string) (Source, error) {
	s := Source{Name: name, Version: version}
	b, err := c.Archive(ctx, f, maxArchive)
	if err != nil {
		return s, err
	}
	if strings.HasSuffix(f.Name, ".zip") {
		return s, s.readZip(b)
	}
	if !strings.HasSuffix(f.Name, ".tar.gz") {
		return s, errors.New("its archive is no .tar.gz and no .zip")
	}
	return s, s.read(b)
}

// read goes through an archive once: metadata near the top, and which languages its
// sources are in.
func (s *Source) read(b []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	s.Kind = "pure"
	members := map[string][]byte{}
	t := tar.NewReader(io.LimitReader(z, maxContent))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.member(members, h.Name, h.Size, t)
		}
		if err != nil {
			return fmt.Errorf("its archive cannot be read: %w", err)
		}
	}
	s.requires(members)
	return nil
}

// readZip is read for the archives of older tools.
func (s *Source) readZip(b []byte) error {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	s.Kind = "pure"
	members := map[string][]byte{}
	left := uint64(maxContent)
	for _, f := range z.File {
		if f.UncompressedSize64 > left {
			break
		}
		left -= f.UncompressedSize64
		r, err := f.Open()
		if err == nil {
			err = errors.Join(s.member(members, f.Name, int64(f.UncompressedSize64), io.LimitReader(r, maxMember)), r.Close())
		}
		if err != nil {
			return fmt.Errorf("its archive cannot be read: %w", err)
		}
	}
	s.requires(members)
	return nil
}

// member looks at one file of an archive, and keeps it where it may say what is required.
func (s *Source) member(members map[string][]byte, name string, size int64, content io.Reader) error {
	switch path.Ext(name) {
	case ".cu", ".cuh":
		s.Kind = "CUDA"
	case ".c", ".cpp", ".cc", ".cxx", ".pyx", ".rs", ".f", ".f90":
		s.Kind = say.Either(s.Kind == "pure", "compiler", s.Kind)
	}
	_, inner, _ := strings.Cut(name, "/")
	code := path.Ext(name) == ".py" && !strings.Contains(name, "/test")
	says := len(members) < maxMembers && slices.Contains([]string{"PKG-INFO", "requires.txt", "setup.cfg", "pyproject.toml", "requirements.txt"}, path.Base(name)) &&
		strings.Count(inner, "/") <= 2
	if size > maxMember || !code && !says {
		return nil
	}
	b := make([]byte, size) // at most maxMember
	if _, err := io.ReadFull(content, b); err != nil {
		return err
	}
	if code {
		s.Imports = append(s.Imports, imports(b)...)
	}
	if keep := says || path.Base(name) == "setup.py" && strings.Count(inner, "/") <= 2; keep && len(members) < maxMembers {
		members[inner] = b
	}
	return nil
}

// requires takes what the archive says of requirements: PKG-INFO of metadata 2.2 or with
// requirements, egg-info (what the maintainer's machine computed), else what setup.py,
// setup.cfg or pyproject.toml spell out.
func (s *Source) requires(members map[string][]byte) {
	for _, i := range pyproject.Imports(members["setup.py"]) {
		if _, by := modules.Brought(i.Module); !i.Guarded && len(by) > 0 && strings.Contains(by[0], "<=") {
			s.Limits = xslices.Add(s.Limits, by[0])
		}
	}
	if bytes.Contains(members["pyproject.toml"], []byte(`"wheel_stub.buildapi"`)) {
		s.Kind = "stub"
	}
	written := func(q pep508.Requirement) string { return q.Text }
	m, err := index.ParseMetadata(members["PKG-INFO"])
	if err == nil {
		s.Pythons = m.Pythons
	}
	if err == nil && len(m.Requires) > 0 {
		s.Requires, s.Read = text.Each(m.Requires, written), "PKG-INFO"
		return
	}
	for name, b := range members {
		if strings.HasSuffix(name, ".egg-info/requires.txt") {
			s.Requires, s.Read = eggRequires(string(b)), "egg-info"
			return
		}
	}
	open := func(name string) ([]byte, error) {
		if b, ok := members[name]; ok {
			return b, nil
		}
		return nil, errors.New("not in the archive")
	}
	for _, name := range []string{"pyproject.toml", "setup.cfg", "setup.py"} {
		b, ok := members[name]
		if !ok {
			continue
		}
		if p, err := pyproject.Read(b, name, open); err == nil && len(p.Requirements) > 0 {
			s.Requires, s.Read = text.Each(p.Requirements, written), name
			return
		}
	}
	if _, ok := members["PKG-INFO"]; ok {
		s.Read = "PKG-INFO" // it requires nothing
	}
}

// eggRequires reads the requires.txt of setuptools: requirements, and sections of an
// extra, a marker, or both.
func eggRequires(s string) []string {
	var out []string
	marker, extra := "", ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if inner, ok := strings.CutPrefix(line, "["); ok {
			extra, marker, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ":")
			continue
		}
		if line == "" {
			continue
		}
		line += say.With(" ; ", say.List(" and ", say.With("(", marker, ")"), say.With(`extra == "`, extra, `"`)), "")
		if _, err := pep508.Parse(line, ""); err == nil {
			out = append(out, line)
		}
	}
	return out
}
