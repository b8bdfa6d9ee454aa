package system

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"strings"
	"testing"
)

// A key that gpg made (package apply's tests have it stand in for NVIDIA's), and the
// fingerprint that gpg says it has.
//
//go:embed testdata/key.asc
var armoured string

const itsFingerprint = "DFB32150B71FA062AC4D9476ACEA09F0728494E5"

func TestFingerprint(t *testing.T) {
	if got, err := Fingerprint([]byte(armoured)); err != nil || got != itsFingerprint {
		t.Errorf("armoured: %s, %v", got, err)
	}
	crlf := strings.ReplaceAll(armoured, "\n", "\r\n")
	if got, err := Fingerprint([]byte(crlf)); err != nil || got != itsFingerprint {
		t.Errorf("with CRLF: %s, %v", got, err)
	}
	_, text, _ := strings.Cut(armoured, "\n\n")
	text, _, _ = strings.Cut(text, "\n=")
	binary, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Fingerprint(binary); err != nil || got != itsFingerprint {
		t.Errorf("binary: %s, %v", got, err)
	}
	changed := bytes.Clone(binary)
	changed[60] ^= 1
	if got, err := Fingerprint(changed); err == nil && got == itsFingerprint {
		t.Error("another key has the same fingerprint")
	}
	for name, file := range map[string][]byte{
		"two keys": append(bytes.Clone(binary), binary...), "two armoured keys": []byte(armoured + armoured), "empty": nil, "a page": []byte("<html>sign in</html>"),
		"cut off": binary[:40], "cut off in its armour": []byte(armoured[:200]), "a signature alone": {0xc2, 1, 4}, "zeros": make([]byte, 100),
	} {
		if got, err := Fingerprint(file); err == nil {
			t.Errorf("%s: taken as %s", name, got)
		}
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add([]byte(armoured))
	f.Add([]byte{0xc6, 0xff, 0, 0, 0, 1, 4})
	f.Add([]byte{0x99, 0, 1, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := Fingerprint(b); err == nil && len(got) != 40 {
			t.Errorf("%q", got)
		}
	})
}
