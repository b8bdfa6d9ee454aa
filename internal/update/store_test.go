package update

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
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
	none := Store{Dir: filepath.Join(t.TempDir(), "nothing")}
	if r, err := none.Installed([]KeyList{keys}); r != nil || err != nil {
		t.Errorf("an empty store: %v, %v", r, err)
	}
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
