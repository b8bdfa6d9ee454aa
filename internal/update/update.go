// Package update takes compatibility data that is newer than the program, and
// cannot be given forged data.
//
// A release is a directory: the data files, manifest.txt with their hashes, and
// its signatures in minisign's format. Who may sign is a list of keys that is
// compiled in. A release is refused when too few of them signed it, when it is
// older than one seen before (rollback), when it has expired (freeze), when a
// file is not the one that was signed, and when the data does not load. Nothing
// is written before all of that is settled, and whatever happens, the data that
// is built into the program works.
//
// The package fetches nothing itself: a [Source] does.
package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing/fstest"
	"time"

	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// Why a release is refused.
var (
	ErrSignature = errors.New("the signature is not good")
	ErrRollback  = errors.New("an older release is not taken")
	ErrExpired   = errors.New("the release has expired")
	ErrHash      = errors.New("a file is not the one that was signed")
	ErrForm      = errors.New("not a release of the matrix")
	ErrNotFound  = errors.New("not found")
)

// A Source reads a file of a release, of at most limit bytes. Its error wraps
// ErrNotFound where there is no such file.
type Source func(ctx context.Context, name string, limit int64) ([]byte, error)

// What is known before a release is looked at.
type Known struct {
	Keys    []KeyList      // each may vouch for a release
	Highest version.Dotted // the highest version seen, the built-in one included
	SHA256  string         // of the manifest of that version; "" where it is the built-in one
	Today   string         // 2026-11-21
}

// A Release is a verified release.
type Release struct {
	Manifest Manifest
	SHA256   string // of the manifest
	Signers  []string
	Matrix   *matrix.Matrix
	News     bool // it is newer than what is known

	files map[string][]byte // everything to be kept, by name
	links []link            // the lists of keys that came with it, and that counted
}

// signatureNames are the files that may hold signatures of a file.
func signatureNames(name string) []string {
	return []string{name + ".minisig", name + ".2.minisig", name + ".3.minisig", name + ".4.minisig", name + ".5.minisig"}
}

// Verify reads a release and checks everything about it. A release that is known
// already is returned with News false and without its data. One that is refused is
// returned as well, for what it says of keys: see [Store.Keep].
func Verify(ctx context.Context, src Source, k Known) (*Release, error) {
	r := &Release{files: map[string][]byte{}}
	return r, r.verify(ctx, src, k)
}

func (r *Release) verify(ctx context.Context, src Source, k Known) error {
	lists, err := r.rotate(ctx, src, k.Keys)
	if err != nil {
		return err
	}
	if err := r.vouched(ctx, src, lists); err != nil {
		return err
	}
	if err := r.fresh(k); err != nil || !r.News {
		return err
	}
	if err := r.fetch(ctx, src); err != nil {
		return err
	}
	return r.load()
}

// vouched reads the manifest, for which one of the lists must vouch.
func (r *Release) vouched(ctx context.Context, src Source, lists []KeyList) error {
	text, signatures, err := r.signed(ctx, src, ManifestName)
	if err != nil {
		return err
	}
	err = fmt.Errorf("no keys are trusted: %w", ErrSignature)
	for _, l := range lists {
		if r.Signers, err = l.Verify(text, signatures); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", ManifestName, err)
	}
	r.SHA256 = hash(text)
	r.Manifest, err = ParseManifest(text)
	return err
}

// fresh refuses what has expired, comes from the future or is older than what is
// known.
func (r *Release) fresh(k Known) error {
	m := r.Manifest
	switch tomorrow := nextDay(k.Today); {
	case k.Today >= m.Expires:
		return fmt.Errorf("release %s was good until %s, today is %s: %w", m.Version, m.Expires, k.Today, ErrExpired)
	case m.Created > tomorrow:
		return fmt.Errorf("release %s was made on %s and today is %s: is the clock right? %w", m.Version, m.Created, k.Today, ErrForm)
	}
	switch c := m.Version.Compare(k.Highest); {
	case c < 0:
		return fmt.Errorf("release %s is older than %s, which was here before: %w", m.Version, k.Highest, ErrRollback)
	case c == 0 && k.SHA256 != "" && k.SHA256 != r.SHA256:
		return fmt.Errorf("release %s was here before with other contents: %w", m.Version, ErrRollback)
	case c > 0:
		r.News = true
	}
	return nil
}

func nextDay(today string) string {
	t, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return today
	}
	return t.AddDate(0, 0, 1).Format(time.DateOnly)
}

// rotate follows newer lists of keys, keys.2.txt, keys.3.txt and so on, each
// signed under the one before, and returns the lists that count now. A list that
// was replaced no longer does.
func (r *Release) rotate(ctx context.Context, src Source, known []KeyList) ([]KeyList, error) {
	out := slices.Clone(known)
	for i := range out {
		for range maxRotations {
			name := fmt.Sprintf("keys.%d.txt", out[i].Number+1)
			text, signatures, err := r.signed(ctx, src, name)
			if errors.Is(err, ErrNotFound) {
				break
			}
			if err != nil {
				return nil, err
			}
			if _, err := out[i].Verify(text, signatures); err != nil {
				r.forget(name)
				break // not under this list; the signature of the release decides
			}
			list, err := ParseKeys(string(text))
			if err == nil && (list.Number != out[i].Number+1 || len(list.Keys) == 0) {
				err = fmt.Errorf("it has number %d and %d keys", list.Number, len(list.Keys))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %w", name, err, ErrForm)
			}
			out[i] = list
			r.links = append(r.links, link{text, signatures})
		}
	}
	return out, nil
}

// forget drops a file that did not count.
func (r *Release) forget(name string) {
	delete(r.files, name)
	for _, n := range signatureNames(name) {
		delete(r.files, n)
	}
}

// signed reads a file and its signatures, and keeps them.
func (r *Release) signed(ctx context.Context, src Source, name string) (text []byte, signatures [][]byte, err error) {
	if text, err = r.read(ctx, src, name, MaxManifest); err != nil {
		return nil, nil, err
	}
	for _, n := range signatureNames(name) {
		s, err := r.read(ctx, src, n, MaxSignature)
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		signatures = append(signatures, s)
	}
	return text, signatures, nil
}

func (r *Release) read(ctx context.Context, src Source, name string, limit int64) ([]byte, error) {
	b, err := src(ctx, name, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", name, limit, ErrForm)
	}
	r.files[name] = b
	return b, nil
}

// fetch reads the data files.
func (r *Release) fetch(ctx context.Context, src Source) error {
	total := 0
	for _, f := range r.Manifest.Files {
		b, err := r.read(ctx, src, f.Name, MaxFile)
		if err != nil {
			return err
		}
		if total += len(b); total > maxTotal {
			return fmt.Errorf("the release has more than %d bytes: %w", maxTotal, ErrForm)
		}
		if hash(b) != f.SHA256 {
			return fmt.Errorf("%s: %w", f.Name, ErrHash)
		}
	}
	return nil
}

// load reads the matrix out of the verified bytes.
func (r *Release) load() (err error) {
	if r.Matrix, err = matrix.LoadLax(r.FS()); err != nil {
		return fmt.Errorf("the data of release %s cannot be used: %w: %w", r.Manifest.Version, err, ErrForm)
	}
	if r.Matrix.Version != r.Manifest.Version.String() {
		return fmt.Errorf("release %s holds the data of %s: %w", r.Manifest.Version, text.Clip(r.Matrix.Version, 60), ErrForm)
	}
	return nil
}

// FS is the verified data, in memory: what is read from it cannot have changed since.
func (r *Release) FS() fs.FS {
	m := fstest.MapFS{}
	for _, f := range r.Manifest.Files {
		m[f.Name] = &fstest.MapFile{Data: r.files[f.Name], Mode: 0o444}
	}
	return m
}
