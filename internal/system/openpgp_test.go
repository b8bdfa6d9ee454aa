package system

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// A key that gpg made (package apply's tests have it stand in for NVIDIA's), and the
// fingerprint that gpg says it has.
//
//go:embed testdata/key.asc
var armoured string

const itsFingerprint = "DFB32150B71FA062AC4D9476ACEA09F0728494E5"

func TestFingerprint(t *testing.T) {
	if got, _, err := PublicKey([]byte(armoured)); err != nil || got != itsFingerprint {
		t.Errorf("armoured: %s, %v", got, err)
	}
	crlf := strings.ReplaceAll(armoured, "\n", "\r\n")
	if got, _, err := PublicKey([]byte(crlf)); err != nil || got != itsFingerprint {
		t.Errorf("with CRLF: %s, %v", got, err)
	}
	_, text, _ := strings.Cut(armoured, "\n\n")
	text, _, _ = strings.Cut(text, "\n=")
	binary, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := PublicKey(binary); err != nil || got != itsFingerprint {
		t.Errorf("binary: %s, %v", got, err)
	}
	changed := bytes.Clone(binary)
	changed[60] ^= 1
	if got, _, err := PublicKey(changed); err == nil && got == itsFingerprint {
		t.Error("another key has the same fingerprint")
	}
	for name, file := range map[string][]byte{
		"two keys": append(bytes.Clone(binary), binary...), "two armoured keys": []byte(armoured + armoured), "empty": nil, "a page": []byte("<html>sign in</html>"),
		"cut off": binary[:40], "cut off in its armour": []byte(armoured[:200]), "a signature alone": {0xc2, 1, 4}, "zeros": make([]byte, 100),
	} {
		if got, _, err := PublicKey(file); err == nil {
			t.Errorf("%s: taken as %s", name, got)
		}
	}
}

// What the fingerprint does not speak for is left out, and what is handed on is read by
// gpg as the same key alone.
func TestThreat14KeyAlone(t *testing.T) {
	_, key, err := PublicKey([]byte(armoured))
	if err != nil {
		t.Fatal(err)
	}
	left := bytes.NewReader(key)
	first, err := packet.NewOpaqueReader(left).Next()
	if err != nil {
		t.Fatal(err)
	}
	body, armour := first.Contents, func(packets []byte) []byte {
		b, err := Armor(packets)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	subkey := append([]byte{0xc0 | subkeyPacket, 255, 0, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	bound := append([]byte{0xc0 | signaturePacket, 4}, 4, 0x18, 1, 8) // by nobody
	for name, file := range map[string][]byte{
		"as it is":               key,
		"with a subkey":          append(append(bytes.Clone(key), subkey...), bound...),
		"armoured":               armour(append(append(bytes.Clone(key), subkey...), bound...)),
		"something ahead of it":  append([]byte("-----BEGIN PGP PUBLIC KEY BLOCK----- \nxxxx\n"), armour(key)...),
		"a packet of another's":  append(bytes.Clone(key), 0xc0|60, 1, 0),
		"more behind its key":    slices.Concat([]byte{0xc0 | publicKeyPacket, 255, 0, 0, byte((len(body) + 3) >> 8), byte(len(body) + 3)}, body, []byte("xyz"), key[len(key)-left.Len():]),
		"before the key, a name": append([]byte{0xc0 | userIDPacket, 1, 'x'}, key...),
	} {
		got, packets, err := PublicKey(file)
		if err != nil || got != itsFingerprint || !bytes.Equal(packets, key) {
			t.Errorf("%s: %s, %d of %d bytes, %v", name, got, len(packets), len(key), err)
		}
	}
	if b, err := Dearmor(armour(key)); err != nil || !bytes.Equal(b, key) {
		t.Errorf("there and back: %v", err)
	}
	gpg, err := exec.LookPath("gpg")
	if err != nil {
		t.Skip("no gpg here to read what was written")
	}
	c := exec.Command(gpg, "--homedir", t.TempDir(), "--batch", "--with-colons", "--show-keys")
	c.Stdin = bytes.NewReader(armour(key))
	out, err := c.Output()
	if err != nil || strings.Count(string(out), "\nfpr:") != 1 || !strings.Contains(string(out), itsFingerprint) {
		t.Errorf("gpg reads %s %v", out, err)
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add([]byte(armoured))
	f.Add([]byte{0xc6, 0xff, 0, 0, 0, 1, 4})
	f.Add([]byte{0x99, 0, 1, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, _, err := PublicKey(b); err == nil && len(got) != 40 {
			t.Errorf("%q", got)
		}
	})
}
