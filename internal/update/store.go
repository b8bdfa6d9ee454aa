package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"envfix/internal/proc"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// Dir returns a source that reads a release from a directory. Links that lead
// out of it, and files that are not regular, are refused.
func Dir(dir string) (Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, name string, limit int64) ([]byte, error) { return readRoot(root, name, limit) }, nil
}

func readRoot(root *os.Root, name string, limit int64) ([]byte, error) {
	i, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if !i.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file: %w", ErrForm)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO put there since must not hold us up
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(i, opened) {
		return nil, fmt.Errorf("not a regular file: %w", ErrForm)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %d bytes: %w", limit, ErrForm)
	}
	return b, err
}

// A Store keeps the release that is installed and remembers the highest version
// seen. It is one directory of the user's.
type Store struct{ Dir string }

// state is state.json.
type state struct {
	Release  string `json:"release"` // directory of the installed release; "" none
	Highest  string `json:"highest"` // version
	Manifest string `json:"manifest_sha256"`
	From     string `json:"from"`
	Checked  string `json:"checked"` // day

	// Compiled is the SHA256 of the release's compiled form, made when it was taken.
	Compiled string `json:"compiled_sha256,omitempty"`

	// Links are the lists of keys that were seen. They are kept apart from the releases: a
	// key that was given up stays given up, whether or not there was news in the data, and
	// whichever source is asked next.
	Links []link `json:"links,omitempty"`
}

// lists returns the lists that count now: those that are pinned, or what they were replaced by.
func (st state) lists(pinned []KeyList) []KeyList {
	return text.Each(pinned, func(l KeyList) KeyList { return follow(l, st.Links) })
}

// sealed is the state as it is written: one file, so that it is never there by halves, and
// with its own sum, so that a part of it that was lost is no state.
type sealed struct {
	Sum   string          `json:"sha256"`
	State json.RawMessage `json:"state"`
}

// What a store holds, from its first day on: its state, and a file that says so.
const (
	stateName  = "state.json"
	readmeName = "README"
)

// From returns where the last release came from, and the day on which that was
// last asked; both "" where it never was.
func (s Store) From() (from, day string) {
	st, err := s.state()
	if err != nil {
		return "", ""
	}
	return st.From, st.Checked
}

// Known returns what a new release is measured against: the highest version of
// the store and of what is built in, and the lists of keys, newer ones that were
// seen included.
func (s Store) Known(builtIn version.Dotted, pinned []KeyList, today string) (Known, error) {
	k := Known{Keys: slices.Clone(pinned), Highest: builtIn, Today: today}
	st, err := s.state()
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	if v, err := version.ParseDotted(st.Highest); err == nil && v.Compare(builtIn) > 0 {
		k.Highest, k.SHA256 = v, st.Manifest
	}
	k.Keys = st.lists(pinned)
	return k, nil
}

// Installed returns the release that is installed, verified again from its
// bytes; nil where none is. It counts also after it has expired: without a
// network there may be nothing better.
func (s Store) Installed(pinned []KeyList) (*Release, error) {
	st, err := s.state()
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Release == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	src, err := Dir(path.Join(s.Dir, st.Release))
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	r := &Release{files: map[string][]byte{}}
	if err := r.vouched(ctx, src, st.lists(pinned)); err != nil {
		return nil, err
	}
	if err := r.fetch(ctx, src); err != nil {
		return nil, err
	}
	if r.Matrix = s.compiled(st, r); r.Matrix != nil {
		return r, nil
	}
	return r, r.load()
}

// compiledName is the file of a release in the store that holds its compiled form:
// the signed files are checked at every start, and reading their YAML would take
// fifty times as long.
const compiledName = "matrix.bin"

// compiled returns the matrix of the verified files from its compiled form; nil
// where there is none, it was changed, or it is another program's or of other files.
func (s Store) compiled(st state, r *Release) *matrix.Matrix {
	root, err := os.OpenRoot(path.Join(s.Dir, st.Release))
	if err != nil {
		return nil
	}
	defer root.Close()
	blob, err := readRoot(root, compiledName, maxTotal)
	if err != nil || st.Manifest != r.SHA256 || hash(blob) != st.Compiled {
		return nil
	}
	sum, err := matrix.Sum(r.FS())
	if err != nil {
		return nil
	}
	m := matrix.Decompile(string(blob), sum)
	if m == nil || m.Version != r.Manifest.Version.String() {
		return nil
	}
	return m
}

func (s Store) state() (state, error) {
	var st state
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return st, err
	}
	defer root.Close()
	if err := private(root); err != nil {
		return st, err
	}
	b, err := readRoot(root, stateName, maxTotal)
	if errors.Is(err, ErrNotFound) {
		return st, unused(root)
	}
	if err != nil {
		return st, fmt.Errorf("%s: %w", stateName, err)
	}
	var on sealed
	if json.Unmarshal(b, &on) != nil || hash(on.State) != on.Sum || json.Unmarshal(on.State, &st) != nil || st.Release != "" && !releaseName(st.Release) {
		return state{}, damaged(s.Dir, stateName+" is not what it was")
	}
	return st, nil
}

// unused is fs.ErrNotExist for a store that was never used. One that has lost its
// state has also lost which keys were given up, and the highest version: it is not
// taken for a new one.
func unused(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != stateName+".new" }) {
		return damaged(root.Name(), stateName+" is gone")
	}
	return fs.ErrNotExist
}

func damaged(dir, what string) error {
	return fmt.Errorf("%s: %s; what was learnt there of keys and versions is lost, and nothing older is trusted in its place; "+
		"remove that directory to begin anew with the built-in keys", dir, what)
}

// releaseName demands a single path element as Install makes them.
func releaseName(s string) bool {
	return strings.HasPrefix(s, "release-") && !strings.ContainsAny(s, "/\\") && s != ".."
}

// private refuses a directory that others may write to, or that is another user's: what
// is not signed in it (the compiled form, which keys were seen) is its owner's to change.
func private(root *os.Root) error {
	i, err := root.Stat(".")
	if err != nil {
		return err
	}
	if uid, known := proc.Owner(root.Name()); known && uid != os.Geteuid() && uid != 0 {
		return fmt.Errorf("%s belongs to another user (uid %d): not trusted", root.Name(), uid)
	}
	if runtime.GOOS != "windows" && i.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s may be written to by others: not trusted", root.Name())
	}
	return nil
}
