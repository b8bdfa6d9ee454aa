package plan

import "testing"

// A mirror stands for what is below an address, not for what begins with the same
// letters.
func TestMoved(t *testing.T) {
	for _, test := range [][4]string{
		{"https://a.example/whl/cu126/x.whl", "https://a.example/whl", "https://m.example/pt", "https://m.example/pt/cu126/x.whl"},
		{"https://a.example/whl/cu126", "https://a.example/whl/", "https://m.example/pt/", "https://m.example/pt/cu126"},
		{"https://a.example/whl", "https://a.example/whl", "https://m.example/pt", "https://m.example/pt"},
		{"https://a.example.evil/x.whl", "https://a.example", "https://m.example", "https://a.example.evil/x.whl"},
		{"https://b.example/whl", "https://a.example/whl", "https://m.example", "https://b.example/whl"},
	} {
		if got, _ := Moved(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("%s with %s at %s: got %s, want %s", test[0], test[1], test[2], got, test[3])
		}
	}
}
