package lock

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Best returns the wheel that an installer would take among files of one version
// that all fit the target: the highest build number, then the narrowest Python
// tag, then the newest platform tag (the file-name rules of PEP 427 and the order
// of tags of PEP 425). The order of the files does not matter.
func Best(wheels []Wheel) Wheel {
	return slices.MaxFunc(wheels, func(a, b Wheel) int {
		x, y := rank(a.Name), rank(b.Name)
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(a.Name, b.Name))
	})
}

// rank is a wheel's build number, then its Python, ABI and platform tags, each
// higher where it is preferred.
func rank(name string) [4]int {
	m := wheelName().FindStringSubmatch(name)
	if m == nil {
		return [4]int{-1}
	}
	build, _, _ := strings.Cut(strings.TrimLeft(m[3], "-"), "_")
	n, _ := strconv.Atoi(strings.TrimRight(build, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return [4]int{n, pythonRank(m[4]), abiRank(m[5]), platformRank(m[6])}
}

// pythonRank puts cp312 before cp39 (a stable-ABI wheel) before py3.
func pythonRank(tags string) int {
	best := 0
	for tag := range strings.SplitSeq(tags, ".") {
		n, err := strconv.Atoi(strings.TrimLeft(tag, "cpy"))
		if err != nil {
			continue
		}
		if n < 10 {
			n *= 100
		}
		if n < 100 {
			n = n/10*100 + n%10
		}
		if strings.HasPrefix(tag, "cp") {
			n += 10000
		}
		best = max(best, n)
	}
	return best
}

func abiRank(tags string) int {
	switch {
	case strings.HasPrefix(tags, "cp"):
		return 2
	case strings.HasPrefix(tags, "abi3"):
		return 1
	}
	return 0
}

// platformRank puts manylinux_2_28 before manylinux_2_17, a newer macOS before an
// older one, and "any" last.
func platformRank(tags string) int {
	best := 0
	for tag := range strings.SplitSeq(tags, ".") {
		tag = strings.NewReplacer("manylinux2014", "manylinux_2_17", "manylinux2010", "manylinux_2_12", "manylinux1", "manylinux_2_5").Replace(tag)
		parts := strings.Split(tag, "_")
		if tag == "any" || len(parts) < 3 {
			continue
		}
		major, _ := strconv.Atoi(parts[1])
		minor, _ := strconv.Atoi(parts[2])
		best = max(best, 1+major*1000+minor)
	}
	if best == 0 && tags != "any" {
		return 1 // win_amd64, linux_x86_64
	}
	return best
}
