package read

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

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

func BenchmarkLongLog(b *testing.B) {
	text := []byte(longLog(10 << 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := NewReader(know.Embedded())
		if err := r.Read("", bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
