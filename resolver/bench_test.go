package resolver

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// BenchmarkResolve resolves every machine of the tables in turn, with all
// reasons, nearest answers and alternatives.
func BenchmarkResolve(b *testing.B) {
	m, err := matrix.Embedded()
	if err != nil {
		b.Fatal(err)
	}
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

// BenchmarkFleet resolves 200,000 machines of 2,000 drawn classes, one resolution
// per class, with all reasons.
func BenchmarkFleet(b *testing.B) {
	m, err := matrix.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	j := readJudge(b)
	rnd := rand.New(rand.NewSource(2))
	fleet := make([]machine.Machine, 200_000)
	for i := range fleet {
		if i >= 2_000 {
			fleet[i] = fleet[i%2_000]
			continue
		}
		c := j.draw(rnd)
		fleet[i] = c.machine()
		fleet[i].Pythons = []machine.Python{{Version: c.python, Active: true}}
	}
	b.ReportAllocs()
	for b.Loop() {
		all, err := ResolveAll(m, fleet, Request{})
		if err != nil || len(all) != len(fleet) {
			b.Fatal(err)
		}
	}
}
