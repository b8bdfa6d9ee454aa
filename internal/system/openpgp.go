package system

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// The packets that a public key is taken from (RFC 4880, 4.3).
const (
	signaturePacket = 2
	publicKeyPacket = 6
	userIDPacket    = 13
	subkeyPacket    = 14
)

// PublicKey returns the fingerprint, in upper-case hexadecimal, of the one public key that
// a file holds, armoured or not, and of its packets those that the fingerprint can speak
// for: the key itself, whose it is, and the signatures of that. A subkey is left out: it is another key, anybody can append one,
// and rpm took such a one unsigned for years (CVE-2021-3521). Its error says why the file
// cannot be trusted as one key: it is none, it holds several, or it is damaged.
//
// The fingerprint of a version 4 key is the SHA-1 of its packet (RFC 4880, 12.2);
// it names a key, and a second key for the name of a given one is not known to be
// feasible for SHA-1.
func PublicKey(file []byte) (fingerprint string, packets []byte, err error) {
	b, err := Dearmor(file)
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	own := true // not yet a subkey, whose signatures follow it
	for r := packet.NewOpaqueReader(bytes.NewReader(b)); ; {
		p, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return "", nil, fmt.Errorf("it is damaged: %w", err)
		}
		var kept interface{ Serialize(io.Writer) error } = p
		switch p.Tag {
		case publicKeyPacket:
			parsed, _ := p.Parse() // what it cannot read is no such key
			key, ok := parsed.(*packet.PublicKey)
			if fingerprint != "" {
				return "", nil, errors.New("it holds more than one key")
			} else if !ok || key.Version != 4 {
				return "", nil, errors.New("its key is not of version 4, or damaged")
			}
			fingerprint, kept = fmt.Sprintf("%X", key.Fingerprint), key // what was read of it, and nothing behind
		case userIDPacket, signaturePacket:
			if fingerprint == "" || !own {
				continue
			}
		default:
			own = own && p.Tag != subkeyPacket
			continue
		}
		if err := kept.Serialize(&out); err != nil {
			return "", nil, err
		}
	}
	if fingerprint == "" {
		return "", nil, errors.New("it holds no public key")
	}
	return fingerprint, out.Bytes(), nil
}

// block is the type of an armoured public key (RFC 4880, 6.2).
const block = "PGP PUBLIC KEY BLOCK"

// Armor writes packets as an ASCII-armoured public key (RFC 4880, 6.2): what another
// reader makes of it is what was looked at, whatever stood around it.
func Armor(packets []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := armor.Encode(&out, block, nil)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(packets)
	err = errors.Join(err, w.Close())
	return append(out.Bytes(), '\n'), err
}

// Dearmor returns the bytes of an ASCII-armoured file (RFC 4880, 6.2), and a
// binary file as it is.
func Dearmor(b []byte) ([]byte, error) {
	if len(b) > 0 && b[0]&0x80 != 0 {
		return b, nil
	}
	b = bytes.ReplaceAll(b, []byte("\r"), nil)
	key, err := armor.Decode(bytes.NewReader(b))
	if err != nil || key.Type != block || bytes.Count(b, []byte("BEGIN "+block+"-----\n")) != 1 {
		return nil, errors.New("it is not one armoured public key")
	}
	return io.ReadAll(key.Body)
}
