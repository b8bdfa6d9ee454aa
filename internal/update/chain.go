package update

import "slices"

// A link is a list of keys and the signatures of who had the say before it.
type link struct {
	Text       []byte   `json:"text"`
	Signatures [][]byte `json:"signatures"`
}

// follow returns the list that counts now where list once did: the one after it
// that is signed under it, and so on. A list that was replaced no longer counts.
func follow(list KeyList, links []link) KeyList {
	for range maxRotations {
		i := slices.IndexFunc(links, func(l link) bool {
			next, err := ParseKeys(string(l.Text))
			if err != nil || next.Number != list.Number+1 || len(next.Keys) == 0 {
				return false
			}
			_, err = list.Verify(l.Text, l.Signatures)
			return err == nil
		})
		if i < 0 {
			return list
		}
		list, _ = ParseKeys(string(links[i].Text)) // it was parsed above
	}
	return list
}
