package update

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/version"
	"envfix/matrix"
)

// Install writes a verified release and makes it the one in use, by one rename.
// The one before is removed.
func (s Store) Install(r *Release, from, today string) error {
	return s.change(r, func(root *os.Root, st *state) error {
		if v, err := version.ParseDotted(st.Highest); err == nil && v.Compare(r.Manifest.Version) > 0 {
			return fmt.Errorf("release %s was taken meanwhile: %w", v, ErrRollback)
		}
		name := "release-" + r.Manifest.Version.String() + "-" + r.SHA256[:12]
		*st = state{Release: name, Highest: r.Manifest.Version.String(), Manifest: r.SHA256, From: from, Checked: today, Links: st.Links}
		files := maps.Clone(r.files)
		if blob, err := matrix.Compile(r.Matrix); err == nil {
			files[compiledName], st.Compiled = blob, hash(blob)
		}
		return writeRelease(root, name, files)
	})
}

// Checked notes that a source was asked and had nothing newer, and keeps the lists
// of keys that it had, and the signatures under them of what is installed.
func (s Store) Checked(r *Release, from, today string) error {
	return s.change(r, func(root *os.Root, st *state) error {
		st.From, st.Checked = from, today
		if st.Release == "" || st.Manifest != r.SHA256 || len(r.links) == 0 {
			return nil
		}
		for _, n := range signatureNames(ManifestName) {
			if b, ok := r.files[n]; ok {
				if err := writeFile(root, path.Join(st.Release, n), b); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Keep keeps the lists of keys of a release that was refused for another reason.
func (s Store) Keep(r *Release) error {
	if r == nil || len(r.links) == 0 {
		return nil
	}
	return s.change(r, func(*os.Root, *state) error { return nil })
}

func (s Store) change(r *Release, change func(*os.Root, *state) error) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	st, err := s.begin(root)
	if err != nil {
		return err
	}
	if err := change(root, &st); err != nil {
		return err
	}
	if err := s.save(root, st, r.links); err != nil {
		return err
	}
	return removeOthers(root, st.Release)
}

// begin returns the state. Into a new store it writes an empty one, and then what tells one
// that lost its state from a new one.
func (s Store) begin(root *os.Root) (state, error) {
	st, err := s.state()
	if !errors.Is(err, fs.ErrNotExist) {
		return st, err
	}
	return st, errors.Join(s.save(root, st, nil), writeFile(root, readmeName, []byte("What envfix took as newer data, and which keys it saw: state.json.\n"+
		"Remove the whole directory to begin anew, never a part of it.\n")))
}

// save adds the lists of keys that came with a release.
func (s Store) save(root *os.Root, st state, links []link) error {
	for _, l := range links {
		if !slices.ContainsFunc(st.Links, func(old link) bool { return bytes.Equal(old.Text, l.Text) }) {
			st.Links = append(st.Links, l)
		}
	}
	of, err := json.Marshal(st)
	if err != nil {
		return err
	}
	b, err := json.Marshal(sealed{hash(of), of})
	if err != nil {
		return err
	}
	if err := writeFile(root, stateName+".new", append(b, '\n')); err != nil {
		return err
	}
	return root.Rename(stateName+".new", stateName)
}

// writeRelease writes the files aside and moves them to their place.
func writeRelease(root *os.Root, name string, files map[string][]byte) error {
	aside := "new-" + name
	if err := root.RemoveAll(aside); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Join(aside, "torch"), 0o700); err != nil {
		return err
	}
	for file, b := range files {
		if err := writeFile(root, path.Join(aside, file), b); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return root.Rename(aside, name)
}

func writeFile(root *os.Root, name string, b []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func removeOthers(root *os.Root, keep string) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n := e.Name(); n != keep && (releaseName(n) || strings.HasPrefix(n, "new-release-")) {
			if err := root.RemoveAll(n); err != nil {
				return err
			}
		}
	}
	return nil
}
