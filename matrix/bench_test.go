package matrix

import (
	"testing"

	"envfix/data"
)

// BenchmarkLoad is what a plan pays for the data.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Embedded()
	}
}

// BenchmarkLoadYAML reads the source files, as `matrix check` does.
func BenchmarkLoadYAML(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck is `matrix check` of everything: under 500 ms.
func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if faults := Check(data.FS); len(faults) > 0 {
			b.Fatal(faults[0])
		}
	}
}
