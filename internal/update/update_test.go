package update

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/version"

	"aead.dev/minisign"
)

const now = "2026-11-21"

// A signer is a maintainer with a key.
type signer struct {
	name   string
	public minisign.PublicKey
	key    minisign.PrivateKey
}

func newSigner(t *testing.T, name string) signer {
	t.Helper()
	public, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return signer{name, public, key}
}

func list(t *testing.T, number, threshold int, signers ...signer) (KeyList, string) {
	t.Helper()
	text := fmt.Sprintf("# keys\nnumber %d\nthreshold %d\n", number, threshold)
	for _, s := range signers {
		text += s.public.String() + " " + s.name + "\n"
	}
	l, err := ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return l, text
}

// A release in memory: what a server would hold.
type files map[string][]byte

func (f files) source(_ context.Context, name string, limit int64) ([]byte, error) {
	b, ok := f[name]
	if !ok {
		return nil, ErrNotFound
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("more than %d bytes: %w", limit, ErrForm)
	}
	return b, nil
}

func (f files) sign(name string, signers ...signer) {
	for i, s := range signers {
		f[signatureNames(name)[i]] = minisign.Sign(s.key, f[name])
	}
}

// build is a good release of the built-in data under another version.
func build(t *testing.T, v, created, expires string, signers ...signer) files {
	t.Helper()
	f := files{}
	sub := fstest.MapFS{}
	err := fs.WalkDir(data.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		b, err := data.FS.ReadFile(name)
		if name == "matrix.yaml" {
			b = bytes.Replace(b, []byte(`version: "`), []byte(`version: "`+v+`" # "`), 1)
		}
		f[name], sub[name] = b, &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManifest(sub)
	if err != nil {
		t.Fatal(err)
	}
	m.Version, m.Created, m.Expires = version.MustDotted(v), created, expires
	f[ManifestName] = m.Encode()
	f.sign(ManifestName, signers...)
	return f
}

func good(t *testing.T, signers ...signer) files {
	return build(t, "2099.1.1", "2026-11-20", "2027-05-01", signers...)
}

// known is what a user knows who trusts one list.
func known(lists ...KeyList) Known {
	return Known{Keys: lists, Highest: version.MustDotted("2026.11.2"), Today: now}
}

// again signs a manifest that an attacker without keys changed: he cannot, so
// the signature stays.
func (f files) edit(name, old, new string) {
	f[name] = []byte(strings.Replace(string(f[name]), old, new, 1))
}

func TestAGoodReleaseIsTakenOnce(t *testing.T) {
	alice := newSigner(t, "alice")
	keys, _ := list(t, 1, 1, alice)
	store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
	f := good(t, alice)
	r, err := Verify(t.Context(), f.source, known(keys))
	if err != nil {
		t.Fatal(err)
	}
	if !r.News || r.Matrix.Version != "2099.1.1" || !slices.Equal(r.Signers, []string{"alice"}) {
		t.Errorf("%v %v %v", r.News, r.Matrix.Version, r.Signers)
	}
	if err := store.Install(r, "the test", now); err != nil {
		t.Fatal(err)
	}
	installed, err := store.Installed([]KeyList{keys})
	if err != nil || installed.SHA256 != r.SHA256 || installed.Matrix.SHA256 != r.Matrix.SHA256 {
		t.Fatal(err)
	}
	k, err := store.Known(version.MustDotted("2026.11.2"), []KeyList{keys}, now)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Verify(t.Context(), f.source, k); err != nil || r.News {
		t.Errorf("the same again: %v, %v", r, err)
	}
	if from, day := store.From(); from != "the test" || day != now {
		t.Error(from, day)
	}
	// An older one, and another one of the same version, are refused from now on.
	for _, tt := range []files{build(t, "2098.1.1", "2026-11-20", "2027-05-01", alice), build(t, "2099.1.1", "2026-11-21", "2027-05-01", alice)} {
		if _, err := Verify(t.Context(), tt.source, k); !errors.Is(err, ErrRollback) {
			t.Errorf("got %v, want a refused rollback", err)
		}
	}
	// The next one takes its place; of the first nothing is left.
	next, err := Verify(t.Context(), build(t, "2099.2.1", "2026-11-20", "2027-05-01", alice).source, k)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Install(next, "the test", now); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(store.Dir)
	if err != nil || len(entries) != 3 || !strings.HasPrefix(entries[1].Name(), "release-2099.2.1-") {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestAttacks(t *testing.T) {
	alice, mallory := newSigner(t, "alice"), newSigner(t, "mallory")
	keys, _ := list(t, 1, 1, alice)
	clean := good(t, alice)
	older := build(t, "2026.11.1", "2026-11-01", "2027-05-01", alice)
	huge := bytes.Repeat([]byte("#"), MaxFile+1)
	for name, tt := range map[string]struct {
		change func(f files) files
		want   error
	}{
		"a data file is changed":           {func(f files) files { f.edit("arches.yaml", "7.0", "7.5"); return f }, ErrHash},
		"a data file is emptied":           {func(f files) files { f["arches.yaml"] = nil; return f }, ErrHash},
		"a data file is cut off":           {func(f files) files { f["arches.yaml"] = f["arches.yaml"][:100]; return f }, ErrHash},
		"two data files change places":     {func(f files) files { f["arches.yaml"], f["cuda.yaml"] = f["cuda.yaml"], f["arches.yaml"]; return f }, ErrHash},
		"a data file is missing":           {func(f files) files { delete(f, "arches.yaml"); return f }, ErrNotFound},
		"a data file is huge":              {func(f files) files { f["arches.yaml"] = huge; return f }, ErrForm},
		"the manifest is changed":          {func(f files) files { f.edit(ManifestName, "2027-05-01", "2037-05-01"); return f }, ErrSignature},
		"the manifest is cut off":          {func(f files) files { f[ManifestName] = f[ManifestName][:200]; return f }, ErrSignature},
		"the manifest is huge":             {func(f files) files { f[ManifestName] = huge; return f }, ErrForm},
		"the manifest is missing":          {func(f files) files { delete(f, ManifestName); return f }, ErrNotFound},
		"there is no signature":            {func(f files) files { delete(f, ManifestName+".minisig"); return f }, ErrSignature},
		"the signature is cut off":         {func(f files) files { f[ManifestName+".minisig"] = f[ManifestName+".minisig"][:80]; return f }, ErrSignature},
		"the signature is empty":           {func(f files) files { f[ManifestName+".minisig"] = nil; return f }, ErrSignature},
		"the signature is huge":            {func(f files) files { f[ManifestName+".minisig"] = huge[:MaxSignature+1]; return f }, ErrForm},
		"the signature is of another file": {func(f files) files { f[ManifestName+".minisig"] = older[ManifestName+".minisig"]; return f }, ErrSignature},
		"its trusted comment is changed": {func(f files) files {
			f.edit(ManifestName+".minisig", "\ntrusted comment: ", "\ntrusted comment: x")
			return f
		}, ErrSignature},
		"somebody else signed it":       {func(f files) files { f.sign(ManifestName, mallory); return f }, ErrSignature},
		"an old release is offered":     {func(files) files { return older }, ErrRollback},
		"an expired release is offered": {func(files) files { return build(t, "2099.1.1", "2026-01-01", now, alice) }, ErrExpired},
		"a release from the future":     {func(files) files { return build(t, "2099.1.1", "2026-11-23", "2027-05-01", alice) }, ErrForm},
		"forged keys come along":        {func(f files) files { return forgedKeys(t, f, mallory) }, ErrSignature},
		"the data does not load":        {func(files) files { return resign(t, clean, "arches.yaml", "format: 1\narches: {a: b}\n", alice) }, ErrForm},
		"the data is of another version": {func(files) files {
			return resign(t, clean, "matrix.yaml", "format: 1\nversion: \"2098.1\"\ndate: \"2026-11-20\"\n", alice)
		}, ErrForm},
		"the data needs a newer envfix": {func(files) files { return resign(t, clean, "matrix.yaml", "format: 2\nversion: \"2099.1.1\"\n", alice) }, ErrForm},
		"an alias bomb, signed": {func(files) files {
			return resign(t, clean, "arches.yaml", "format: 1\na: &a [x]\nb: [*a, *a]\n", alice)
		}, ErrForm},
		"everything is garbage": {func(files) files { return files{ManifestName: huge[:100], ManifestName + ".minisig": huge[:100]} }, ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Verify(t.Context(), tt.change(maps.Clone(clean)).source, known(keys))
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' }) {
				t.Errorf("%q could steer a terminal", err)
			}
		})
	}
	// An extra file is not part of what was signed, and is never read.
	extra := maps.Clone(clean)
	extra["torch/9.9.yaml"] = []byte("format: 1\ntorch: \"9.9\"\n")
	r, err := Verify(t.Context(), extra.source, known(keys))
	if err != nil || r.Matrix.SHA256 != must(Verify(t.Context(), clean.source, known(keys))).Matrix.SHA256 {
		t.Errorf("an extra file changed something: %v", err)
	}
	if _, err := Verify(t.Context(), clean.source, known()); !errors.Is(err, ErrSignature) {
		t.Errorf("without keys: %v", err)
	}
}

func must(r *Release, err error) *Release {
	if err != nil {
		panic(err)
	}
	return r
}

// resign is the work of a maintainer who signs nonsense.
func resign(t *testing.T, clean files, name, text string, s signer) files {
	t.Helper()
	f := maps.Clone(clean)
	m, err := ParseManifest(f[ManifestName])
	if err != nil {
		t.Fatal(err)
	}
	f[name] = []byte(text)
	for i := range m.Files {
		if m.Files[i].Name == name {
			m.Files[i].SHA256 = hash(f[name])
		}
	}
	f[ManifestName] = m.Encode()
	f.sign(ManifestName, s)
	return f
}

// forgedKeys is a new list of keys that only its own owner signed.
func forgedKeys(t *testing.T, f files, s signer) files {
	_, text := list(t, 2, 1, s)
	f["keys.2.txt"] = []byte(text)
	f.sign("keys.2.txt", s)
	f.sign(ManifestName, s)
	return f
}

// A list of keys that skips a number is refused, in words.
func TestKeysSkipANumber(t *testing.T) {
	alice := newSigner(t, "alice")
	first, _ := list(t, 1, 1, alice)
	f := good(t, alice)
	_, third := list(t, 3, 1, alice)
	f["keys.2.txt"] = []byte(third)
	f.sign("keys.2.txt", alice)
	if _, err := Verify(t.Context(), f.source, known(first)); err == nil || !strings.Contains(err.Error(), "it has number 3") {
		t.Errorf("got %v", err)
	}
}

// Keys change hands: list 2 is signed under list 1, list 3 under list 2. From
// then on the old keys count no longer.
func TestKeyRotation(t *testing.T) {
	alice, bob, carol := newSigner(t, "alice"), newSigner(t, "bob"), newSigner(t, "carol")
	first, _ := list(t, 1, 1, alice)
	f := good(t, carol)
	_, second := list(t, 2, 1, bob)
	_, third := list(t, 3, 1, carol)
	f["keys.2.txt"], f["keys.3.txt"] = []byte(second), []byte(third)
	f.sign("keys.2.txt", alice)
	f.sign("keys.3.txt", bob)
	store := Store{Dir: filepath.Join(t.TempDir(), "matrix")}
	r, err := Verify(t.Context(), f.source, known(first))
	if err != nil || !slices.Equal(r.Signers, []string{"carol"}) {
		t.Fatalf("%v, %v", r != nil, err)
	}
	if err := store.Install(r, "the test", now); err != nil {
		t.Fatal(err)
	}
	k, err := store.Known(version.MustDotted("2026.11.2"), []KeyList{first}, now)
	if err != nil {
		t.Fatal(err)
	}
	// The key that was given up signs the next release: refused, also beside the
	// old lists.
	stale := build(t, "2099.2.1", "2026-11-20", "2027-05-01", alice)
	if _, err := Verify(t.Context(), stale.source, k); !errors.Is(err, ErrSignature) {
		t.Errorf("got %v", err)
	}
	// A release without the lists is taken, and the lists stay.
	next, err := Verify(t.Context(), build(t, "2099.2.1", "2026-11-20", "2027-05-01", carol).source, k)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Install(next, "the test", now); err != nil {
		t.Fatal(err)
	}
	if r, err := store.Installed([]KeyList{first}); err != nil || r.Manifest.Version.String() != "2099.2.1" {
		t.Errorf("%v, %v", r != nil, err)
	}
	// A list that skips a number, or is signed by nobody, leads nowhere.
	delete(f, "keys.2.txt")
	if _, err := Verify(t.Context(), f.source, known(first)); !errors.Is(err, ErrSignature) {
		t.Errorf("got %v", err)
	}
}

func TestThreshold(t *testing.T) {
	alice, bob, carol, mallory := newSigner(t, "alice"), newSigner(t, "bob"), newSigner(t, "carol"), newSigner(t, "mallory")
	two, _ := list(t, 1, 2, alice, bob, carol)
	for _, tt := range []struct {
		signers []signer
		ok      bool
	}{
		{[]signer{alice, carol}, true}, {[]signer{mallory, bob, alice}, true},
		{[]signer{alice}, false}, {[]signer{alice, alice}, false}, {[]signer{alice, mallory}, false},
	} {
		if _, err := Verify(t.Context(), good(t, tt.signers...).source, known(two)); (err == nil) != tt.ok {
			t.Errorf("%d signers: %v", len(tt.signers), err)
		}
	}
}
