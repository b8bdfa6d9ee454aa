package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// TestSums: the sums name each file, and the signature is of the key that install.sh
// is given.
func TestSums(t *testing.T) {
	r := trial(t)
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(r.Scratch, "key")
	if err := os.WriteFile(key, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVFIX_RELEASE_KEY", key)
	if r.readKey(); r.Key != public.String() {
		t.Fatalf("the public key is %q, want %q", r.Key, public)
	}
	r.write("b", []byte("two"), 0o644)
	r.write("a", []byte("one"), 0o644)
	provenance(r)
	sums(r)
	list, err := os.ReadFile(filepath.Join(r.Out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := os.ReadFile(filepath.Join(r.Out, "SHA256SUMS.minisig"))
	if err != nil {
		t.Fatal(err)
	}
	if !minisign.Verify(public, list, signature) || minisign.Verify(public, append(list, ' '), signature) {
		t.Error("the signature is not of SHA256SUMS")
	}
	if !strings.HasPrefix(string(list), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  a\n") {
		t.Errorf("SHA256SUMS begins otherwise:\n%s", list)
	}
}

// TestImage walks from the image's index to the program, by digest.
func TestImage(t *testing.T) {
	r := trial(t)
	for _, target := range r.Targets {
		if err := errors.Join(os.MkdirAll(filepath.Dir(r.binary(target)), 0o755), os.WriteFile(r.binary(target), []byte("for "+target.String()), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	image(r)
	b, err := os.ReadFile(filepath.Join(r.Out, "envfix.oci.tar"))
	if err != nil {
		t.Fatal(err)
	}
	image(r)
	if again, err := os.ReadFile(filepath.Join(r.Out, "envfix.oci.tar")); err != nil || !bytes.Equal(b, again) {
		t.Errorf("two images of the same differ (%v)", err)
	}
	files := map[string][]byte{}
	for in := tar.NewReader(bytes.NewReader(b)); ; {
		head, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[head.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	type descriptor struct {
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
		Platform  struct{ Architecture string }
		Manifests []descriptor `json:"manifests"`
		Layers    []descriptor `json:"layers"`
	}
	follow := func(d descriptor) (next descriptor) {
		blob, ok := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if !ok || len(blob) != d.Size {
			t.Fatalf("%s has %d bytes, want %d", d.Digest, len(blob), d.Size)
		}
		if err := json.Unmarshal(blob, &next); err != nil {
			t.Fatal(err)
		}
		return next
	}
	var top descriptor
	if err := json.Unmarshal(files["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("index.json names %d images (%v)", len(top.Manifests), err)
	}
	both := follow(top.Manifests[0]).Manifests
	if len(both) != 2 || both[0].Platform.Architecture != "amd64" || both[1].Platform.Architecture != "arm64" {
		t.Fatalf("the image is for %+v", both)
	}
	for _, m := range both {
		if layers := follow(m).Layers; len(layers) != 1 || files["blobs/sha256/"+strings.TrimPrefix(layers[0].Digest, "sha256:")] == nil {
			t.Errorf("%s has the layers %+v", m.Platform.Architecture, layers)
		}
	}
}
