package near

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"rtx", "", 3}, {"", "rtx", 3}, {"rtx 4090", "rtx 4090", 0},
		{"torhc", "torch", 2}, {"kitten", "sitting", 3}, {"h100", "a100", 1},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
