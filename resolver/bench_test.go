package resolver

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkResolve resolves every machine of the tables in turn, with all
// reasons, nearest answers and alternatives.
func BenchmarkResolve(b *testing.B) {
	m := dataThen(b)
	var cases []tableCase
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range parseTable(b, file, string(text)) {
			if c.want != "" {
				cases = append(cases, c)
			}
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c := &cases[i%len(cases)]
		if _, err := Resolve(m, c.h, c.r); err != nil && c.want != "error" {
			b.Fatal(c.title, err)
		}
		i++
	}
}
