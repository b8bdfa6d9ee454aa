package machine

import (
	"strconv"
	"strings"

	"envfix/internal/lazy"
)

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
	memLoose    = lazy.Regexp(`(?i)` + amount + ` is reserved by PyTorch but unallocated`)
	memProcess  = lazy.Regexp(`(?i)\bprocess (\d+) has ` + amount)
)

// An OutOfMemory is what such a message says, in bytes; -1: it does not.
type OutOfMemory struct {
	Total, Free, Tried, Allocated int64
	Reserved                      int64    // by this process, with what it allocated
	Unallocated                   int64    // of that
	Others                        int64    // in use by other processes
	Holders                       []string // their numbers, the largest first
}

// ParseOutOfMemory reads the numbers of a message.
func ParseOutOfMemory(s string) OutOfMemory {
	o := OutOfMemory{Total: bytesOf(memTotal().FindStringSubmatch(s)), Free: bytesOf(memFree().FindStringSubmatch(s)), Tried: bytesOf(memTried().FindStringSubmatch(s)),
		Allocated: bytesOf(memAlready().FindStringSubmatch(s)), Reserved: bytesOf(memReserved().FindStringSubmatch(s)), Unallocated: bytesOf(memLoose().FindStringSubmatch(s))}
	if o.Unallocated < 0 && o.Allocated >= 0 && o.Reserved > o.Allocated {
		o.Unallocated = o.Reserved - o.Allocated
	}
	most := int64(0)
	for _, m := range memProcess().FindAllStringSubmatch(s, -1) {
		n := bytesOf(m[1:])
		o.Others += n
		if n > most && len(o.Holders) < 8 {
			most, o.Holders = n, append([]string{m[1]}, o.Holders...)
		}
	}
	return o
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
