package lock

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"envfix/internal/text"

	"github.com/pelletier/go-toml/v2"
)

// answered is a package as uv's pylock text has it.
type answered struct {
	Name      string     `toml:"name"`
	Version   string     `toml:"version"`
	Wheels    []file     `toml:"wheels"`
	Sdist     *file      `toml:"sdist"`
	Archive   *file      `toml:"archive"`
	VCS       *VCS       `toml:"vcs"`
	Directory *Directory `toml:"directory"`
}

type file struct {
	Name         string            `toml:"name"`
	URL          string            `toml:"url"`
	Path         string            `toml:"path"`
	Size         int64             `toml:"size"`
	Subdirectory string            `toml:"subdirectory"`
	Hashes       map[string]string `toml:"hashes"`
}

// ParseUV reads the pylock answer that `uv pip compile --format pylock.toml` prints
// for one platform and reduces every package to the one file that an installer
// would take there. Sizes are 0 and hashes may be empty: the caller completes them
// from the index or the bytes. indexes names the packages that came from an index
// of their own. Paths are as uv wrote them.
func ParseUV(answer []byte, indexes []Index) ([]Package, error) {
	if len(answer) > MaxBytes {
		return nil, fmt.Errorf("uv's answer has %d bytes", len(answer))
	}
	var doc struct {
		Packages []answered `toml:"packages"`
	}
	if err := toml.NewDecoder(bytes.NewReader(answer)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("uv's answer: %w", describe(err))
	}
	var out []Package
	var faults []error
	for _, p := range doc.Packages {
		k, err := p.locked()
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", text.Clip(p.Name, 120), text.Clip(p.Version, 120), err))
			continue
		}
		for _, i := range indexes {
			if i.Package == p.Name && (len(k.Wheels) > 0 || k.Sdist != nil) {
				k.Index = i.URL
			}
		}
		out = append(out, k)
	}
	return out, errors.Join(faults...)
}

// locked reduces what uv said of a package to one form.
func (p answered) locked() (Package, error) {
	k := Package{Name: p.Name, Version: p.Version, VCS: p.VCS, Directory: p.Directory}
	var wheels []Wheel
	for _, f := range p.Wheels {
		w, err := f.wheel()
		if err != nil {
			return k, err
		}
		wheels = append(wheels, w)
	}
	switch {
	case len(wheels) > 0:
		k.Wheels = []Wheel{Best(wheels)}
	case p.Sdist != nil:
		w, err := p.Sdist.wheel()
		k.Sdist = &w
		return k, err
	case p.Archive != nil:
		w, err := p.Archive.wheel()
		k.Archive = &Archive{URL: w.URL, Path: w.Path, Size: w.Size, Subdirectory: p.Archive.Subdirectory, Hashes: w.Hashes}
		return k, err
	case p.VCS == nil && p.Directory == nil:
		return k, errors.New("it has no file for this target")
	}
	return k, nil
}

// wheel is the file with its URL bare of fragments and credentials.
func (f file) wheel() (Wheel, error) {
	u, err := url.Parse(f.URL)
	if err != nil {
		return Wheel{}, fmt.Errorf("url %q", text.Clip(f.URL, 120))
	}
	u.Fragment, u.RawQuery, u.User = "", "", nil
	return Wheel{Name: cmp.Or(f.Name, lastElement(u.Path+f.Path)), URL: u.String(), Path: f.Path, Size: f.Size, Hashes: Hashes{strings.ToLower(f.Hashes["sha256"])}}, nil
}
