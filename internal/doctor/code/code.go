package code

import (
	"fmt"

	"envfix/internal/doctor/evidence"
)

// divided: of the numbers of GPUs that divide the heads, the greatest power of two; what is
// left over can take a share of the layers.
func divided(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Hit("tensor-parallel-heads")
	if h == nil {
		return
	}
	heads, size := evidence.Atoi(h.Captures["heads"]), evidence.Atoi(h.Captures["size"])
	n := 1
	for heads > 0 && heads%(n*2) == 0 && n*2 <= size {
		n *= 2
	}
	ways := []string{fmt.Sprintf("`--tensor-parallel-size %d`", n)}
	if size/n > 1 {
		ways = append(ways, fmt.Sprintf("with %d GPUs: `--tensor-parallel-size %d --pipeline-parallel-size %d`",
			n*(size/n), n, size/n))
	}
	out.Find("CODE016", evidence.Likely, h.At).Do(ways...).
		Says("%d attention heads cannot be divided among %d GPUs", heads, size)
}
