package update

import (
	"crypto/ed25519"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aead.dev/minisign"

	"envfix/internal/text"
)

// Pinned is the list of keys that the program was built with.
//
//go:embed keys.txt
var Pinned string

// A KeyList says whose signatures count.
type KeyList struct {
	Number    int // grows with every new list
	Threshold int // signatures of different keys that are needed
	Keys      []Key
}

// A Key is one minisign public key.
type Key struct {
	Public minisign.PublicKey
	Name   string // its number, as minisign writes it, where the list names nobody
}

const maxKeys = 20

// ParseKeys reads a list: lines "number N", "threshold N" and "RW… name";
// comments begin with #.
func ParseKeys(data string) (KeyList, error) {
	list := KeyList{Threshold: 1}
	seen := map[[ed25519.PublicKeySize]byte]bool{} // its number is the key's own to say, and is not signed
	for i, line := range strings.Split(data, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch word {
		case "number":
			list.Number, err = strconv.Atoi(rest)
		case "threshold":
			list.Threshold, err = strconv.Atoi(rest)
		default:
			k := Key{Name: text.Clip(rest, 60)}
			if err = k.Public.UnmarshalText([]byte(word)); err == nil {
				if k.Name == "" {
					k.Name = fmt.Sprintf("key %016X", k.Public.ID())
				}
				bytes := bare(k.Public)
				if seen[bytes] {
					err = errors.New("this key is there twice")
				}
				seen[bytes] = true
				list.Keys = append(list.Keys, k)
			}
		}
		if err != nil {
			return KeyList{}, fmt.Errorf("line %d of the list of keys: %w", i+1, err)
		}
	}
	if list.Number < 0 || list.Threshold < 1 || len(list.Keys) > maxKeys || (len(list.Keys) > 0 && list.Threshold > len(list.Keys)) {
		return KeyList{}, fmt.Errorf("the list of keys makes no sense: %d keys, %d signatures needed", len(list.Keys), list.Threshold)
	}
	return list, nil
}

// bare is the key without the number that minisign gives it: one person's key under two
// numbers would count as two.
func bare(k minisign.PublicKey) (out [ed25519.PublicKeySize]byte) {
	text, err := base64.StdEncoding.DecodeString(k.String())
	if err == nil && len(text) > len(out) {
		copy(out[:], text[len(text)-len(out):])
	}
	return out
}

// Verify demands as many valid signatures of different keys as the list does. It
// returns the names of the signers.
func (l KeyList) Verify(message []byte, signatures [][]byte) ([]string, error) {
	if len(l.Keys) == 0 {
		return nil, fmt.Errorf("no keys are trusted: %w", ErrSignature)
	}
	var signers []string
	for _, k := range l.Keys {
		for _, s := range signatures {
			if minisign.Verify(k.Public, message, s) {
				signers = append(signers, k.Name)
				break
			}
		}
	}
	if len(signers) < l.Threshold {
		return nil, fmt.Errorf("%d of %d signatures that are needed are good: %w", len(signers), l.Threshold, ErrSignature)
	}
	return signers, nil
}
