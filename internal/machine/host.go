package machine

import (
	"strings"

	"envfix/data"
)

// lender is the first row of data/hosts.tsv, in its order, whose kind and sign are those of the
// machine: what lends it, and how a GPU is got there.
func lender(is func(kind, sign string) bool) (name, way string, found bool) {
	for line := range strings.Lines(data.Hosts) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 && is(f[0], f[1]) {
			return f[2], strings.Replace(f[3], "{described}", "`envfix plan --gpu NAME --driver VERSION` plans for a machine that has one", 1), true
		}
	}
	return "", "", false
}

// IsHost says whether a host sets the variable name on the machines that it lends.
func IsHost(name string) bool {
	_, _, is := lender(func(kind, sign string) bool { return kind == "host" && sign == name })
	return is
}

// Lent is what m is where a host lends it without a GPU, and how it gets one there; "" it
// is nothing of the kind, or nothing says so.
func (m Machine) Lent() (name, way string) {
	name, way, _ = lender(func(kind, sign string) bool { // hosts stand before clouds
		return kind == "host" && m.Env[sign] != "" || kind == "cloud" && strings.HasPrefix(m.Platform.Product, sign)
	})
	return name, way
}
