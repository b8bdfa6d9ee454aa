package update

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/version"
)

// What lies in the store is believed only as far as it is still what was signed.
func TestAStoreThatWasTamperedWith(t *testing.T) {
	alice := newSigner(t, "alice")
	keys, _ := list(t, 1, 1, alice)
	r := must(Verify(t.Context(), good(t, alice).source, known(keys)))
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("format: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(dir, release string) error{
		"a file is changed": func(_, rel string) error {
			return os.WriteFile(filepath.Join(rel, "arches.yaml"), []byte("format: 1\n"), 0o600)
		},
		"a file is removed":  func(_, rel string) error { return os.Remove(filepath.Join(rel, "arches.yaml")) },
		"a file is a link":   func(_, rel string) error { return relink(outside, filepath.Join(rel, "arches.yaml")) },
		"a file is a pipe":   func(_, rel string) error { return redir(filepath.Join(rel, "arches.yaml")) },
		"a directory leaves": func(_, rel string) error { return relink(filepath.Dir(outside), filepath.Join(rel, "torch")) },
		"the manifest":       func(_, rel string) error { return os.WriteFile(filepath.Join(rel, ManifestName), []byte("x"), 0o600) },
		"the signature": func(_, rel string) error {
			return os.WriteFile(filepath.Join(rel, ManifestName+".minisig"), []byte("x"), 0o600)
		},
		"the state": func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, stateName), []byte("{"), 0o600) },
		"the state's path": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, stateName), []byte(`{"format":1,"release":"../../etc"}`), 0o600)
		},
		"a state of 1 MB": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, stateName), bytes.Repeat([]byte(" "), 1<<20), 0o600)
		},
		"others may write": func(dir, _ string) error { return os.Chmod(dir, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
			if err := store.Install(r, "the test", now); err != nil {
				t.Fatal(err)
			}
			release, err := filepath.Glob(filepath.Join(store.Dir, "release-*"))
			if err != nil || len(release) != 1 {
				t.Fatal(release, err)
			}
			if err := change(store.Dir, release[0]); err != nil {
				t.Fatal(err)
			}
			if got, err := store.Installed([]KeyList{keys}); err == nil {
				t.Errorf("it was believed: %v", got.Manifest.Version)
			}
		})
	}
	if os.Geteuid() == 0 { // as with HOME of a user under sudo
		store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
		if err := errors.Join(store.Install(r, "the test", now), os.Chown(store.Dir, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Installed([]KeyList{keys}); err == nil {
			t.Errorf("another user's was believed: %v", got.Manifest.Version)
		}
	}
	none := Store{Dir: filepath.Join(t.TempDir(), "nothing")}
	if r, err := none.Installed([]KeyList{keys}); r != nil || err != nil {
		t.Errorf("an empty store: %v, %v", r, err)
	}
}

// A list of keys that was seen is kept, whether or not there was news in the data,
// and whatever is damaged never brings the key back that was given up.
func TestThreat09RevokedKeyStaysRevoked(t *testing.T) {
	alice, bob := newSigner(t, "alice"), newSigner(t, "bob")
	first, _ := list(t, 1, 1, alice)
	_, second := list(t, 2, 1, bob)
	rotated := func(f files) files {
		f["keys.2.txt"] = []byte(second)
		f.sign("keys.2.txt", alice)
		return f
	}
	was := good(t, alice)
	same := rotated(maps.Clone(was)) // no news in the data, and bob's signature
	same.sign(ManifestName, bob)
	expired := rotated(build(t, "2099.3.1", "2026-01-01", "2026-02-01", bob))
	stolen := build(t, "2099.2.1", "2026-11-20", "2027-05-01", alice) // and without the list of keys
	builtIn := version.MustDotted("2026.11.2")

	install := func(t *testing.T) Store {
		store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
		if err := store.Install(must(Verify(t.Context(), was.source, known(first))), "the test", now); err != nil {
			t.Fatal(err)
		}
		return store
	}
	learn := func(t *testing.T, store Store, f files) {
		k, err := store.Known(builtIn, []KeyList{first}, now)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), f.source, k)
		if err != nil {
			err = store.Keep(r)
		} else {
			err = store.Checked(r, "the test", now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]files{"the same data": same, "an expired release": expired} {
		t.Run(name, func(t *testing.T) {
			store := install(t)
			learn(t, store, f)
			k, err := store.Known(builtIn, []KeyList{first}, now)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(t.Context(), stolen.source, k); !errors.Is(err, ErrSignature) {
				t.Errorf("a release by the key that was given up: %v", err)
			}
			r, err := store.Installed([]KeyList{first})
			if name == "the same data" && (err != nil || r.Signers[0] != "bob") {
				t.Errorf("what is installed and signed by bob as well: %v", err)
			}
			if name != "the same data" && !errors.Is(err, ErrSignature) {
				t.Errorf("what is installed and signed by alice alone: %v", err)
			}
		})
	}
	for name, damage := range map[string]func(dir string) error{
		"the list is gone":      func(dir string) error { return restate(dir, `,"links":.*]`, "") },
		"the list is changed":   func(dir string) error { return restate(dir, `"text":"..`, `"text":"AA`) },
		"its signature is gone": func(dir string) error { return restate(dir, `"signatures":\["[^"]*"`, `"signatures":[`) },
		"its sum is gone":       func(dir string) error { return restate(dir, `"sha256":"[^"]*",`, "") },
		"the highest version":   func(dir string) error { return restate(dir, `"highest":"2099`, `"highest":"1999`) },
		"all of it":             func(dir string) error { return restate(dir, `.*`, `{"format":1}`) },
		"nothing of it":         func(dir string) error { return restate(dir, `.*`, "") },
		"the state is gone":     func(dir string) error { return os.Remove(filepath.Join(dir, stateName)) },
		"the release and the state are gone": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, stateName)), each(dir, "release-*", os.RemoveAll))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := install(t)
			learn(t, store, same)
			if err := damage(store.Dir); err != nil {
				t.Fatal(err)
			}
			if k, err := store.Known(builtIn, []KeyList{first}, now); err == nil {
				t.Errorf("the store is believed: lists %v", k.Keys)
			}
			if _, err := store.Installed([]KeyList{first}); err == nil {
				t.Error("what is installed is used")
			}
		})
	}
	t.Run("the release is damaged", func(t *testing.T) { // the keys are kept apart from it
		store := install(t)
		learn(t, store, same)
		if err := each(store.Dir, "release-*", os.RemoveAll); err != nil {
			t.Fatal(err)
		}
		k, err := store.Known(builtIn, []KeyList{first}, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), stolen.source, k); !errors.Is(err, ErrSignature) {
			t.Errorf("a release by the key that was given up: %v", err)
		}
	})
}

// Of two updates at once the later release stays, whichever is written last.
func TestThreat09TwoUpdatesAtOnce(t *testing.T) {
	alice := newSigner(t, "alice")
	keys, _ := list(t, 1, 1, alice)
	store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
	older := must(Verify(t.Context(), good(t, alice).source, known(keys)))
	newer := must(Verify(t.Context(), build(t, "2099.2.1", "2026-11-20", "2027-05-01", alice).source, known(keys)))
	if err := store.Install(newer, "the test", now); err != nil {
		t.Fatal(err)
	}
	if err := store.Install(older, "the test", now); !errors.Is(err, ErrRollback) {
		t.Errorf("got %v", err)
	}
	if r, err := store.Installed([]KeyList{keys}); err != nil || r.Manifest.Version.String() != "2099.2.1" {
		t.Errorf("installed: %v, %v", r, err)
	}
}

// restate changes a part of the state.
func restate(dir, part, by string) error {
	file := filepath.Join(dir, stateName)
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed := regexp.MustCompile(part).ReplaceAllString(strings.TrimSpace(string(b)), by)
	if changed == string(b) {
		return errors.New("nothing matches " + part)
	}
	return os.WriteFile(file, []byte(changed), 0o600)
}

func each(dir, glob string, do func(path string) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, glob))
	if err == nil && len(paths) == 0 {
		err = errors.New("nothing matches " + glob)
	}
	for _, p := range paths {
		err = errors.Join(err, do(p))
	}
	return err
}

func relink(to, at string) error { return errors.Join(os.RemoveAll(at), os.Symlink(to, at)) }
func redir(at string) error      { return errors.Join(os.Remove(at), os.Mkdir(at, 0o700)) }

func TestDirRefusesWhatLeavesIt(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("x"), 0o600), os.Symlink(secret, filepath.Join(dir, "a.yaml")), os.Mkdir(filepath.Join(dir, "b.yaml"), 0o700)); err != nil {
		t.Fatal(err)
	}
	src, err := Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.yaml", "b.yaml", "../secret", "/etc/passwd"} {
		if b, err := src(t.Context(), name, 100); err == nil {
			t.Errorf("%s: read %q", name, b)
		}
	}
}

// What is taken is compiled once; where its compiled form is changed, gone, or that
// of another program, the signed files are read.
func TestCompiledWhenTaken(t *testing.T) {
	alice := newSigner(t, "alice")
	keys, _ := list(t, 1, 1, alice)
	f := good(t, alice)
	r, err := Verify(t.Context(), f.source, known(keys))
	if err != nil {
		t.Fatal(err)
	}
	store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
	if err := store.Install(r, "the test", now); err != nil {
		t.Fatal(err)
	}
	st, err := store.state()
	if err != nil {
		t.Fatal(err)
	}
	m := store.compiled(st, r)
	if m == nil || m.SHA256 != r.Matrix.SHA256 || len(m.Releases) != len(r.Matrix.Releases) {
		t.Fatalf("the compiled form is not of this release: %v", m)
	}
	file := filepath.Join(store.Dir, st.Release, compiledName)
	blob, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"a byte": func() error {
			return os.WriteFile(file, append(bytes.Clone(blob[:len(blob)-1]), blob[len(blob)-1]^1), 0o600)
		},
		"nothing": func() error { return os.WriteFile(file, nil, 0o600) },
		"gone":    func() error { return os.Remove(file) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, blob, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if store.compiled(st, r) != nil {
				t.Error("it was believed")
			}
			got, err := store.Installed([]KeyList{keys})
			if err != nil || got.Matrix.SHA256 != r.Matrix.SHA256 {
				t.Errorf("the signed files were not read: %v", err)
			}
		})
	}
}

// A clock that jumped back takes no release from what is then the future, and one that
// jumped ahead takes none that is then over; neither harms what is installed, and with
// the right day all goes on.
func TestThreat09ClockJumps(t *testing.T) {
	alice := newSigner(t, "alice")
	keys, _ := list(t, 1, 1, alice)
	store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
	builtIn := version.MustDotted("2026.11.2")
	if err := store.Install(must(Verify(t.Context(), good(t, alice).source, known(keys))), "the test", now); err != nil {
		t.Fatal(err)
	}
	next := build(t, "2099.2.1", "2026-11-20", "2027-05-01", alice)
	for day, want := range map[string]error{"1980-01-01": ErrForm, "2026-11-18": ErrForm, "2099-01-01": ErrExpired, "2027-05-01": ErrExpired, "": ErrForm, now: nil} {
		k, err := store.Known(builtIn, []KeyList{keys}, day)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), next.source, k); !errors.Is(err, want) {
			t.Errorf("on %q: %v, want %v", day, err, want)
		}
		if r, err := store.Installed([]KeyList{keys}); err != nil || r.Manifest.Version.String() != "2099.1.1" {
			t.Errorf("on %q what is installed: %v", day, err)
		}
	}
	for _, day := range []string{"2099-01-01", "1980-01-01"} { // a check on a wrong day is not remembered as an order
		same := must(Verify(t.Context(), good(t, alice).source, known(keys)))
		if err := store.Checked(same, "the test", day); err != nil {
			t.Fatal(err)
		}
		k, err := store.Known(builtIn, []KeyList{keys}, now)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(t.Context(), next.source, k); err != nil || !r.News {
			t.Errorf("after a check on %s: %v", day, err)
		}
	}
}
