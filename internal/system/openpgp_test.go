package system

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// A key that gpg made, and the fingerprint that gpg says it has.
const armoured = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mQENBGsBy3EBCADSbU3Tz+zLI4lP5cqN1y1GJnWC/XHhDXwrqGdIqFEb/ycZYgOU
yWe5X8N/wPNcBE0rqk2cP4vrwmRYvdbfRax+6lg9dnp0iFGoWFrojw9lt0HCTnVY
/JckJchIEGP5yZd1cOaqshPGOvOk7yqVgV7ZGBQY+SJ+edcJ7E/IWtmAY1Sg/okn
O4RVMsogo3B1ahVHu9UeM/6v+kiAChnEElkt8ecSh1/BoHY4ig3SGYknV0clL19D
8Ns6ULBv+3MN8aMJlMW1ErRe/ugBHX3BIv5gxNMhckAkLy5oiG1tNbpovFbKMJx+
5F9osfGlYZ65US/hHetwHbtMUnwcssXwrBZRABEBAAG0G3Rlc3QgPHRlc3RAZXhh
bXBsZS5pbnZhbGlkPokBTgQTAQoAOBYhBN+zIVC3H6BirE2UdqzqCfByhJTlBQJr
ActxAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJEKzqCfByhJTl/WoH/1MQ
Bd8SfXndoaGWGMRk/9Fq/VB/ofHh7dwsdDR+NQEViSIU+DVKGycs+q8hKzbNjmKh
6fLECyHfLFRRvAMsAdQwU8RGeod+iXiPefY7Ai3X+jGDPher+Wn/wTpbzYQTBcr0
k/qh37hBJwtvXp34toL7dxOJms0hc1v53ZEKVLQ4Uq7O/bWA8SW0xDwcF4wyDt09
oCywk6yr74aGAAiprpUyPRGsi1aGjgxE6AK9E88fSgydRp7c62oz7ym5uIU2nUGb
ufmSSfuMEfgPR8a32RJo1B5BToA/J7BU8e2muiSzh2Qs4zrPL74UEknWV444ETV9
DbE0HBgIjPpkta4yV88=
=ZqbQ
-----END PGP PUBLIC KEY BLOCK-----
`

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
