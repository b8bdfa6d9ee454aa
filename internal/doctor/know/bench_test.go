package know

import (
	"testing"

	"envfix/data"
)

// BenchmarkLoad is what explain and doctor pay for what they know.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data.Doctor); err != nil {
			b.Fatal(err)
		}
	}
}
