package machine

import (
	"strings"
	"sync"

	"envfix/data"
	"envfix/internal/xslices"
)

// A lender lends machines, and a GPU comes with them or not: it is known by a variable that
// it sets, or, a cloud, by the name that it gives its machines in their firmware.
type lender struct{ kind, sign, name, way string }

// lenders are the rows of data/hosts.tsv.
var lenders = sync.OnceValue(func() (all []lender) {
	table := strings.ReplaceAll(data.Hosts, "{described}", "`envfix plan --gpu NAME --driver VERSION` plans for a machine that has one")
	for line := range strings.Lines(table) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
			all = append(all, lender{f[0], f[1], f[2], f[3]})
		}
	}
	return all
})

// IsHost says whether a host sets the variable name on the machines that it lends.
func IsHost(name string) bool {
	_, is := xslices.Find(lenders(), func(l lender) bool { return l.kind == "host" && l.sign == name })
	return is
}

// Lent is what m is where a host lends it without a GPU, and how it gets one there; "" it
// is nothing of the kind, or nothing says so.
func (m Machine) Lent() (name, way string) {
	by, _ := xslices.Find(lenders(), func(l lender) bool { // hosts stand before clouds
		return l.kind == "host" && m.Env[l.sign] != "" || l.kind == "cloud" && strings.HasPrefix(m.Platform.Product, l.sign)
	})
	return by.name, by.way
}
