package code

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
)

var tensorTypes = lazy.Regexp(`(?i)Input type \((torch\.(?:cuda\.)?)(\w+)Tensor\) and (?:weight|` +
	`bias) type \((torch\.(?:cuda\.)?)(\w+)Tensor\)`)

// scalarTypes are named since torch 1.5 without the device: there the types alone differ.
var scalarTypes = lazy.Regexp(`(?i)Input type \(([\w:.]+)\) and (?:weight|bias) type \(([\w:.]+)\)`)

// dataTypes: both tensors are on the same device, and of different types.
func dataTypes(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Hits {
		if m := scalarTypes().FindStringSubmatch(h.At.Text); m != nil && m[1] != m[2] &&
			!strings.Contains(m[0], "torch.") {
			out.Find("CODE012", evidence.Likely, h.At).
				Says("one tensor is %s and the other %s: the data types differ, and the fault is in the program",
					m[1], m[2])
			return
		}
		if m := tensorTypes().FindStringSubmatch(h.At.Text); m != nil {
			if m[1] != m[3] || strings.EqualFold(m[2], m[4]) {
				continue
			}
			out.Find("CODE012", evidence.Likely, h.At).
				Says("one tensor is %s and the other %s, on the same device: the data types differ, and the fault is in the program",
					m[2], m[4])
			return
		}
	}
}

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
