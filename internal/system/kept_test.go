package system

import "testing"

type answer struct{ Python string }

func TestKeepAnswer(t *testing.T) {
	dir := t.TempDir()
	key := Key("a", 1)
	if Kept[answer](dir, key) != nil || key == Key("a", 2) {
		t.Fatal("an answer that nobody kept")
	}
	KeepAnswer(dir, key, &answer{Python: "3.11"})
	if a := Kept[answer](dir, key); a == nil || a.Python != "3.11" {
		t.Error(a)
	}
}
