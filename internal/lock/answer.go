package lock

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"envfix/internal/text"

	"github.com/pelletier/go-toml/v2"
)

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
		Packages []Package `toml:"packages"`
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
func (p Package) locked() (Package, error) {
	k := Package{Name: p.Name, Version: p.Version, VCS: p.VCS, Directory: p.Directory}
	for i := range p.Wheels {
		if err := p.Wheels[i].bare(); err != nil {
			return k, err
		}
	}
	switch {
	case len(p.Wheels) > 0:
		k.Wheels = []Wheel{Best(p.Wheels)}
	case p.Sdist != nil:
		k.Sdist = p.Sdist
		return k, k.Sdist.bare()
	case p.Archive != nil:
		k.Archive = p.Archive
		err := k.Archive.bare()
		k.Archive.Name = ""
		return k, err
	case p.VCS == nil && p.Directory == nil:
		return k, errors.New("it has no file for this target")
	}
	return k, nil
}

// bare takes fragments and credentials out of a file's URL, and names the file.
func (w *Wheel) bare() error {
	u, err := url.Parse(w.URL)
	if err != nil {
		return fmt.Errorf("url %q", text.Clip(w.URL, 120))
	}
	u.Fragment, u.RawQuery, u.User = "", "", nil
	w.URL, w.Hashes.SHA256 = u.String(), strings.ToLower(w.Hashes.SHA256)
	*w = w.file()
	return nil
}
