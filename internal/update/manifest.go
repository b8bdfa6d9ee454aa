package update

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A Manifest is what is signed: a version, two dates, and the hash of every file.
// Its text is also what `sha256sum -c` reads.
type Manifest struct {
	Version version.Dotted
	Created string // 2026-11-21
	Expires string // the first day on which it is refused
	Files   []File // in the order of their names
}

// A File is one data file of a release.
type File struct {
	Name   string // arches.yaml, torch/2.15.yaml
	SHA256 string
}

// Caps, each checked before what it bounds is hashed or parsed.
const (
	MaxManifest  = 64 << 10
	MaxSignature = 4 << 10
	MaxFile      = 2 << 20
	maxTotal     = 16 << 20
	maxFiles     = 200
)

// ManifestName is the file of a release that is signed.
const ManifestName = "manifest.txt"

// maxRotations is how many newer lists of keys are followed at a time.
const maxRotations = 20

const manifestHead = "# envfix matrix\n# by hand: minisign -Vm manifest.txt -P KEY && sha256sum -c manifest.txt\n"

var (
	dataName = lazy.Regexp(`^(torch/)?[a-z0-9][a-z0-9._-]{0,60}\.yaml$`)
	fileLine = lazy.Regexp(`^([0-9a-f]{64})  (\S+)$`)
	day      = lazy.Regexp(`^\d{4}-\d\d-\d\d$`)
)

// Encode writes the manifest as it is signed.
func (m Manifest) Encode() []byte {
	var b strings.Builder
	b.WriteString(manifestHead)
	fmt.Fprintf(&b, "# format 1\n# version %s\n# created %s\n# expires %s\n", m.Version, m.Created, m.Expires)
	for _, f := range m.Files {
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Name)
	}
	return []byte(b.String())
}

// ParseManifest reads a manifest. It accepts exactly what Encode writes, so that
// one text has one meaning.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if len(data) > MaxManifest {
		return m, fmt.Errorf("the manifest has more than %d bytes: %w", MaxManifest, ErrForm)
	}
	body, ok := strings.CutPrefix(string(data), manifestHead)
	head := strings.SplitN(body, "\n", 5)
	if !ok || len(head) != 5 {
		return m, fmt.Errorf("this is no manifest of the matrix: %w", ErrForm)
	}
	if format := strings.TrimPrefix(head[0], "# format "); format != "1" {
		return m, fmt.Errorf("format %q of the manifest needs a newer envfix: %w", text.Clip(format, 60), ErrForm)
	}
	var err error
	if m.Version, err = version.ParseDotted(strings.TrimPrefix(head[1], "# version ")); err != nil {
		return m, fmt.Errorf("the manifest's version: %w: %w", err, ErrForm)
	}
	m.Created, m.Expires = strings.TrimPrefix(head[2], "# created "), strings.TrimPrefix(head[3], "# expires ")
	if !isDay(m.Created) || !isDay(m.Expires) || m.Expires <= m.Created {
		return m, fmt.Errorf("the manifest's dates, %q and %q: %w", text.Clip(m.Created, 60), text.Clip(m.Expires, 60), ErrForm)
	}
	if err := m.read(head[4]); err != nil {
		return m, err
	}
	if len(m.Files) == 0 || string(m.Encode()) != string(data) {
		return m, fmt.Errorf("the manifest is not written as manifests are: %w", ErrForm)
	}
	return m, nil
}

// read reads the lines of the files.
func (m *Manifest) read(lines string) error {
	for line := range strings.Lines(lines) {
		f := fileLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if f == nil || !dataName().MatchString(f[2]) || len(m.Files) == maxFiles {
			return fmt.Errorf("the manifest's line %q: %w", text.Clip(line, 60), ErrForm)
		}
		if n := len(m.Files); n > 0 && m.Files[n-1].Name >= f[2] {
			return fmt.Errorf("the manifest's files are not in order at %s: %w", f[2], ErrForm)
		}
		m.Files = append(m.Files, File{f[2], f[1]})
	}
	return nil
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && day().MatchString(s)
}

// NewManifest hashes the data files of a directory.
func NewManifest(fsys fs.FS) (Manifest, error) {
	var m Manifest
	for _, dir := range []string{".", "torch"} {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			return m, err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.IsDir() || !strings.HasSuffix(name, ".yaml") {
				continue
			}
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return m, err
			}
			if !e.Type().IsRegular() || !dataName().MatchString(name) || len(text) > MaxFile {
				return m, fmt.Errorf("%s cannot be part of a release", name)
			}
			m.Files = append(m.Files, File{name, hash(text)})
		}
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

func hash(b []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(b))
}
