package read

import (
	"strconv"
	"strings"

	"envfix/internal/lazy"
)

// A Usage is the memory in use on one GPU, as nvidia-smi shows it.
type Usage struct {
	GPU   int   // -1 unknown
	Bytes int64 // used
	Total int64 // 0 unknown
	At    Evidence
}

const amount = `(\d+(?:\.\d+)?) ?([KMGT]?i?B|bytes)`

// The numbers of "out of memory" messages of torch: old ("GPU 0; 11.17 GiB total
// capacity; 505.96 MiB already allocated; 12.50 MiB free; 530.00 MiB reserved")
// and new ("has a total capacity of 7.79 GiB of which 13.94 MiB is free. Process
// 12345 has 7.60 GiB memory in use"; torch 2.0 and 2.1 wrote "capacty"), and of the
// allocator of the driver ("Currently allocated : 5.62 GiB Requested : 4.00 GiB
// Device limit : 6.00 GiB Free (according to CUDA): 0 bytes").
var (
	memTotal    = lazy.Regexp(`(?i)` + amount + ` total capacity|total capaci?ty of ` + amount + `|device limit *: ` + amount)
	memFree     = lazy.Regexp(`(?i)(?:\d[\d.]* ?\w+,? )?free \(according to CUDA\) *: ` + amount + `|` + amount + ` (?:is )?free|of which ` + amount)
	memTried    = lazy.Regexp(`(?i)(?:tried to allocate|requested *:) ` + amount)
	memReserved = lazy.Regexp(`(?i)` + amount + ` (?:reserved in total|cached)|this process has ` + amount + `|currently allocated *: ` + amount)
	memAlready  = lazy.Regexp(`(?i)` + amount + ` (?:already allocated|is allocated by PyTorch)`)
	memProcess  = lazy.Regexp(`(?i)\bprocess (\d+) has ` + amount)
)

// memory reads the numbers of the line where it holds any.
func (r *Reader) memory(s Evidence) {
	l := r.whole
	total := bytesOf(memTotal().FindStringSubmatch(l))
	if total <= 0 {
		return
	}
	if n := len(r.c.Memory); n > 0 && r.c.Memory[n-1].At.Line == s.Line || n >= 8 {
		return
	}
	a := Allocation{Total: total, Free: bytesOf(memFree().FindStringSubmatch(l)), Tried: bytesOf(memTried().FindStringSubmatch(l)),
		Ours: bytesOf(memReserved().FindStringSubmatch(l)), At: s}
	if a.Ours < 0 {
		a.Ours = bytesOf(memAlready().FindStringSubmatch(l))
	}
	most := int64(0)
	for _, m := range memProcess().FindAllStringSubmatch(l, -1) {
		n := bytesOf(m[1:])
		a.Others += n
		if n > most && len(a.Holders) < 8 {
			most, a.Holders = n, append([]string{m[1]}, a.Holders...)
		}
	}
	r.c.Memory = append(r.c.Memory, a)
}

// bytesOf is the amount in a match, -1 where there is none.
func bytesOf(m []string) int64 {
	for i := 1; i+1 < len(m); i += 2 {
		if m[i] == "" {
			continue
		}
		f, err := strconv.ParseFloat(m[i], 64)
		if err != nil || f < 0 || f > 1e9 {
			return -1
		}
		unit := map[byte]float64{
			'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40, 'b': 1,
		}[strings.ToLower(m[i+1])[0]]
		return int64(f * unit)
	}
	return -1
}
