package read

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"envfix/internal/doctor/know"
)

// longLog is n bytes of an ordinary training log, with the words of our field in
// every line.
func longLog(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b,
				"[rank0]: step %d loss 0.%d lr 1e-4 throughput 123 samples/s mem 12.3 GiB torch.cuda ok\n", i, i%977)
		case 1:
			fmt.Fprintf(&b, "2026-01-01 10:00:%02d INFO trainer: epoch %d batch done CUDA device 0 NVIDIA A100\n",
				i%60, i)
		case 2:
			fmt.Fprintf(&b, "%d GET /v1/models HTTP/1.1 200 OK error=none docker container %x\n", i, i*7919)
		}
	}
	return b.String()
}

// pasted is n bytes of lines that people pasted, one after the other as drawn.
func pasted(b *testing.B, n int, draw func(lines []string, i int) string) string {
	text, err := os.ReadFile("../testdata/everyday.txt")
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		out.WriteString(draw(lines, i) + "\n")
	}
	return out.String()
}

// BenchmarkLongText reads 10 MB: an ordinary log, one in which a line of fifty is of what
// people paste, the same few lines again and again, and such lines alone. Beside it
// the same bytes are searched for one word without regard to case, as grep does.
func BenchmarkLongText(b *testing.B) {
	const size = 10 << 20
	drawn := rand.New(rand.NewPCG(1, 2))
	plain := strings.Split(longLog(size), "\n")
	for _, kind := range []struct {
		name, text string
	}{
		{"log", longLog(size)},
		{"mixed", pasted(b, size, func(lines []string, i int) string {
			if i%50 == 0 {
				return lines[drawn.IntN(len(lines))]
			}
			return plain[i%len(plain)]
		})},
		{"same", pasted(b, size, func(lines []string, i int) string { return lines[i%40] })},
		{"messages", pasted(b, size, func(lines []string, _ int) string { return lines[drawn.IntN(len(lines))] })},
	} {
		b.Run(kind.name, func(b *testing.B) {
			text := []byte(kind.text)
			b.SetBytes(int64(len(text)))
			search := time.Duration(0)
			for b.Loop() {
				r := NewReader(know.Embedded())
				if err := r.Read("", bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
				r.Case()
				b.StopTimer()
				from := time.Now()
				for line := range bytes.Lines(text) {
					_ = bytes.Contains(bytes.ToLower(line), []byte("error"))
				}
				search += time.Since(from)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(search), "×search")
		})
	}
}
