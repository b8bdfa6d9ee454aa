package update

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// A link is a list of keys and the signatures of who had the say before it.
type link struct {
	text       []byte
	signatures [][]byte
}

// follow returns the list that counts now where list once did: the one after it
// that is signed under it, and so on. A list that was replaced no longer counts.
func follow(list KeyList, links []link) KeyList {
	for range maxRotations {
		i := slices.IndexFunc(links, func(l link) bool {
			next, err := ParseKeys(string(l.text))
			if err != nil || next.Number != list.Number+1 || len(next.Keys) == 0 {
				return false
			}
			_, err = list.Verify(l.text, l.signatures)
			return err == nil
		})
		if i < 0 {
			return list
		}
		list, _ = ParseKeys(string(links[i].text)) // it was parsed above
	}
	return list
}

const (
	keysDir  = "keys"
	maxLinks = 200
)

// writeLinks keeps lists of keys under their hashes, and returns these.
func writeLinks(root *os.Root, links []link) (names []string, err error) {
	if len(links) == 0 {
		return nil, nil
	}
	if err := root.MkdirAll(keysDir, 0o700); err != nil {
		return nil, err
	}
	for _, l := range links {
		name := hash(l.text)
		if err := writeFile(root, path.Join(keysDir, name+".txt"), l.text); err != nil {
			return nil, err
		}
		for i, s := range l.signatures {
			if err := writeFile(root, path.Join(keysDir, signatureNames(name + ".txt")[i]), s); err != nil {
				return nil, err
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// lists returns the lists that count now: those that are pinned, or what they were
// replaced by. A list that was seen once and is gone or changed is an error: to go
// on without it would trust keys that were given up.
func (s Store) lists(st state, pinned []KeyList) ([]KeyList, error) {
	src, err := Dir(s.Dir)
	if err != nil {
		return nil, err
	}
	if len(st.Keys) > maxLinks {
		return nil, damaged(s.Dir, "more lists of keys than there can be")
	}
	var links []link
	for _, name := range st.Keys {
		l, err := readLink(src, name)
		if err != nil {
			return nil, damaged(s.Dir, fmt.Sprintf("a list of keys is not what it was (%v)", err))
		}
		links = append(links, l)
	}
	if st.Keys == nil && st.Release != "" { // kept by an envfix that had them in the release alone
		old, err := Dir(path.Join(s.Dir, st.Release))
		if err != nil {
			return nil, damaged(s.Dir, err.Error())
		}
		r := &Release{files: map[string][]byte{}}
		return r.rotate(context.Background(), old, pinned)
	}
	out := slices.Clone(pinned)
	for i := range out {
		out[i] = follow(out[i], links)
	}
	return out, nil
}

func readLink(src Source, name string) (l link, err error) {
	if len(name) != 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return l, errors.New("its name is none")
	}
	file := path.Join(keysDir, name+".txt")
	if l.text, err = src(context.Background(), file, MaxManifest); err != nil {
		return l, err
	}
	if hash(l.text) != name {
		return l, ErrHash
	}
	for _, n := range signatureNames(file) {
		s, err := src(context.Background(), n, MaxSignature)
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return l, err
		}
		l.signatures = append(l.signatures, s)
	}
	if len(l.signatures) == 0 {
		return l, ErrSignature
	}
	return l, nil
}
