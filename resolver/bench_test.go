package resolver

import (
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"envfix/matrix"
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

// BenchmarkSlowest resolves the machines that the judge draws, with all reasons, and
// reports the slowest of them: the best of three runs each, so that what else the
// computer does counts less.
func BenchmarkSlowest(b *testing.B) {
	m, j := dataThen(b), readJudge(b)
	rnd := rand.New(rand.NewSource(1))
	slowest := time.Duration(0)
	for b.Loop() {
		c := j.draw(rnd)
		h, r := c.machine(), c.request(b)
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := Resolve(m, h, r); err != nil {
				b.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		slowest = max(slowest, best)
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms/slowest")
}

// BenchmarkPackages resolves old and mixed GPUs with packages that hardly any build goes
// with, whose answers try much, and reports the slowest as BenchmarkSlowest does.
func BenchmarkPackages(b *testing.B) {
	m := matrix.Embedded() // with all the files that indexes have by now
	slowest := time.Duration(0)
	for b.Loop() {
		for _, gpus := range [][]string{{"3.7"}, {"5.2"}, {"5.2", "6.0", "7.0", "7.5"}, {"6.1", "12.0"}, {"8.6"}} {
			for _, wish := range []string{"vllm", "sglang", "flash-attn", "torch==2.4.* vllm", "bitsandbytes vllm xformers", "tensorflow torch"} {
				c := tableCase{}
				c.h.Platform.OS, c.h.Platform.Arch = "linux", "x86_64"
				for _, w := range []string{"glibc-2.35", "driver-580.95.05", "found-3.12"} {
					if err := c.setMachine(w); err != nil {
						b.Fatal(err)
					}
				}
				for _, sm := range gpus {
					if err := c.setGPU("GPU | " + sm); err != nil {
						b.Fatal(err)
					}
				}
				if err := c.setRequest(strings.Fields(wish)); err != nil {
					b.Fatal(err)
				}
				best := time.Hour
				for range 3 {
					start := time.Now()
					if _, err := Resolve(m, c.h, c.r); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				slowest = max(slowest, best)
			}
		}
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms/slowest")
}

// Each release with a file is compared once, not for each build with each row that tells of
// one: 27 million allocations for sglang, seconds of a processor.
func TestManyFiles(t *testing.T) {
	m := matrix.Embedded()
	for _, name := range []string{"sglang", "vllm", "flash-attn"} {
		c := tableCase{}
		c.h.Platform.OS, c.h.Platform.Arch = "linux", "x86_64"
		if err := c.setRequest([]string{name}); err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(1, func() {
			if _, err := Resolve(m, c.h, c.r); err != nil {
				t.Error(err)
			}
		})
		if n > 2e6 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}
