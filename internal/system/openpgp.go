package system

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The packets that a public key is taken from (RFC 4880, 4.3).
const (
	signaturePacket = 2
	publicKeyPacket = 6
	userIDPacket    = 13
	subkeyPacket    = 14
)

// PublicKey returns the fingerprint, in upper-case hexadecimal, of the one public key that
// a file holds, armoured or not, and of its packets those that the fingerprint can speak for: the key itself, whose it is, and the
// signatures of that. A subkey is left out: it is another key, anybody can append one,
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
	own := true // not yet a subkey, whose signatures follow it
	for len(b) > 0 {
		tag, body, rest, err := packet(b)
		if err != nil {
			return "", nil, err
		}
		whole := b[:len(b)-len(rest)]
		b = rest
		switch {
		case tag == subkeyPacket:
			own = false
		case tag == publicKeyPacket && fingerprint != "":
			return "", nil, errors.New("it holds more than one key")
		case tag == publicKeyPacket:
			if len(body) < 6 || body[0] != 4 {
				return "", nil, errors.New("its key is not of version 4")
			}
			h := sha1.New()
			h.Write([]byte{0x99})
			h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(body))))
			h.Write(body)
			fingerprint = fmt.Sprintf("%X", h.Sum(nil))
			packets = append(packets, whole...)
		case fingerprint != "" && own && (tag == userIDPacket || tag == signaturePacket):
			packets = append(packets, whole...)
		}
	}
	if fingerprint == "" {
		return "", nil, errors.New("it holds no public key")
	}
	return fingerprint, packets, nil
}

// Armor writes packets as an ASCII-armoured public key (RFC 4880, 6.2): what another
// reader makes of it is what was looked at, whatever stood around it.
func Armor(packets []byte) []byte {
	const initial, polynomial = 0xb704ce, 0x1864cfb // RFC 4880, 6.1
	crc := uint32(initial)
	for _, c := range packets {
		crc ^= uint32(c) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= polynomial
			}
		}
	}
	var out bytes.Buffer
	out.WriteString("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n")
	text := base64.StdEncoding.EncodeToString(packets)
	for len(text) > 64 {
		out.WriteString(text[:64] + "\n")
		text = text[64:]
	}
	sum := base64.StdEncoding.EncodeToString([]byte{byte(crc >> 16), byte(crc >> 8), byte(crc)})
	fmt.Fprintf(&out, "%s\n=%s\n-----END PGP PUBLIC KEY BLOCK-----\n", text, sum)
	return out.Bytes()
}

// Dearmor returns the bytes of an ASCII-armoured file (RFC 4880, 6.2), and a
// binary file as it is.
func Dearmor(b []byte) ([]byte, error) {
	const head, foot = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
	if len(b) > 0 && b[0]&0x80 != 0 {
		return b, nil
	}
	_, text, ok := strings.Cut(strings.ReplaceAll(string(b), "\r", ""), head+"\n")
	text, after, ended := strings.Cut(text, foot)
	if !ok || !ended || strings.Contains(after, head) {
		return nil, errors.New("it is not one armoured public key")
	}
	if _, data, ok := strings.Cut(text, "\n\n"); ok { // its headers end with an empty line
		text = data
	}
	data, _, _ := strings.Cut("\n"+text, "\n=") // the checksum, which guards against accidents only
	return base64.StdEncoding.DecodeString(strings.ReplaceAll(data, "\n", ""))
}

// packet splits the first packet off (RFC 4880, 4.2).
func packet(b []byte) (tag byte, body, rest []byte, err error) {
	bad := errors.New("it is damaged")
	if b[0]&0x80 == 0 || len(b) < 3 {
		return 0, nil, nil, bad
	}
	r := bytes.NewReader(b[1:])
	var n int
	if b[0]&0x40 != 0 {
		tag = b[0] & 0x3f
		n, err = newLength(r)
	} else {
		tag = b[0] >> 2 & 0xf
		n, err = oldLength(r, b[0]&3)
	}
	at := len(b) - r.Len()
	if err != nil || n > r.Len() {
		return 0, nil, nil, bad
	}
	return tag, b[at : at+n], b[at+n:], nil
}

func oldLength(r *bytes.Reader, kind byte) (int, error) {
	switch kind {
	case 0:
		return number[uint8](r)
	case 1:
		return number[uint16](r)
	case 2:
		return number[uint32](r)
	}
	return 0, errors.New("a packet of unknown length")
}

func number[T uint8 | uint16 | uint32](r *bytes.Reader) (int, error) {
	var n T
	err := binary.Read(r, binary.BigEndian, &n)
	return int(n), err
}

func newLength(r *bytes.Reader) (int, error) {
	n, err := r.ReadByte()
	switch {
	case err != nil || n < 192:
		return int(n), err
	case n < 224:
		m, err := r.ReadByte()
		return (int(n)-192)<<8 + int(m) + 192, err
	case n < 255:
		return 0, errors.New("a packet in parts")
	}
	return number[uint32](r)
}
