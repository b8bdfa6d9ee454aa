package system

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Key names a question: the same parts have the same answer for a day.
func Key(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return "" // such a question is not kept
		}
		h.Write(append(b, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Kept is the answer that was kept for a question; nil there is none.
func Kept[Answer any](dir, key string) *Answer {
	b, err := os.ReadFile(filepath.Join(dir, key+".json"))
	var a Answer
	if dir == "" || key == "" || err != nil || json.Unmarshal(b, &a) != nil {
		return nil
	}
	return &a
}

// KeepAnswer keeps an answer. Where it cannot, and says why, the question is asked again.
func KeepAnswer(dir, key string, a any) error {
	b, err := json.Marshal(a)
	if dir == "" || key == "" || err != nil {
		return cmp.Or(err, errors.New("there is no folder for it"))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Replace(filepath.Join(dir, key+".json"), b, 0o600)
}
