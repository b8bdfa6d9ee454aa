package lock

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const header = "# Written by `envfix lock`: commit it, do not edit it.\n\n"

// Encode returns the canonical bytes of the lock: the same lock gives the same
// bytes everywhere. It sorts what has no order of its own and fills in both
// digests.
func (l *Lock) Encode() ([]byte, error) {
	l.sort()
	sum, err := l.Input.Digest()
	if err != nil {
		return nil, err
	}
	l.InputSHA256 = sum
	if l.ContentSHA256, err = l.digest(); err != nil {
		return nil, err
	}
	return l.marshal()
}

func (l *Lock) marshal() ([]byte, error) {
	b, err := marshal(l)
	return append([]byte(header), b...), err
}

// marshal writes v with its keys in the order of the struct and without
// indentation.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.SetIndentTables(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	return b.Bytes(), nil
}

// digest is the SHA-256 of the file with an empty content-sha256.
func (l *Lock) digest() (string, error) {
	bare := *l
	bare.ContentSHA256 = ""
	b, err := bare.marshal()
	return Sum(b), err
}

func (l *Lock) sort() {
	slices.SortFunc(l.Profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	for i := range l.Profiles {
		p := &l.Profiles[i]
		slices.SortFunc(p.Indexes, func(a, b Index) int { return strings.Compare(a.Package, b.Package) })
		slices.Sort(p.Hosts)
		slices.Sort(p.Verify)
	}
	l.Input = l.Input.sorted()
}

func (in Input) sorted() Input {
	in.Requirements = slices.Sorted(slices.Values(in.Requirements))
	in.Sources = slices.SortedFunc(slices.Values(in.Sources), func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	in.Build = slices.Sorted(slices.Values(in.Build))
	in.AsNamed = slices.Sorted(slices.Values(in.AsNamed))
	in.Constraints = slices.Sorted(slices.Values(in.Constraints))
	in.Groups = slices.SortedFunc(slices.Values(in.Groups), func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	in.Targets = slices.SortedFunc(slices.Values(in.Targets), func(a, b Target) int { return strings.Compare(a.Name, b.Name) })
	return in
}

// Digest returns the SHA-256 of the canonical input in hex: what was asked for,
// not when or where.
func (in Input) Digest() (string, error) {
	b, err := marshal(in.sorted())
	return Sum(b), err
}

// Sum returns the SHA-256 of b in hex.
func Sum(b []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(b))
}
