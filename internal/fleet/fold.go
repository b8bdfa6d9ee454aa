package fleet

import (
	"fmt"
	"math"
	"strings"
)

// Fold writes sorted host names in the form that Slurm and clush read: node[001-003],
// node7, gpu-a. Names that count on within their last number are one.
func Fold(hosts []string) string { return FoldUpTo(hosts, math.MaxInt) }

// FoldUpTo is Fold that ends with … behind some characters: a million names that do
// not count on would be a long text.
func FoldUpTo(hosts []string, most int) string {
	var out []string
	length := 0
	for i := 0; i < len(hosts); {
		if length > most {
			out = append(out, "…")
			break
		}
		named := len(out)
		head, digits, tail := lastNumber(hosts[i])
		end := i + 1
		for n := digits; end < len(hosts); end++ {
			h, d, t := lastNumber(hosts[end])
			if n = next(n); h != head || t != tail || d == "" || d != n {
				break
			}
		}
		if _, last, _ := lastNumber(hosts[end-1]); end-i > 2 {
			out = append(out, fmt.Sprintf("%s[%s-%s]%s", head, digits, last, tail))
		} else {
			out = append(out, hosts[i:end]...)
		}
		for _, name := range out[named:] {
			length += len(name) + 1
		}
		i = end
	}
	return strings.Join(out, ",")
}

// lastNumber splits node007.lan into node, 007 and .lan.
func lastNumber(host string) (head, digits, tail string) {
	end := strings.LastIndexAny(host, "0123456789") + 1
	start := end
	for start > 0 && host[start-1] >= '0' && host[start-1] <= '9' {
		start--
	}
	return host[:start], host[start:end], host[end:]
}

// next counts a number on, as wide as it was: 009 → 010; "" for what is no number or
// would grow.
func next(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return ""
}
