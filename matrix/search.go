package matrix

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
)

// Search lists up to n models whose names hold every word of what somebody began to
// type, in any case: those that begin with it first, then the newer generation, then
// the shorter name. Models of one name stand once; those before CUDA do not stand.
func (t *DeviceTable) Search(typed string, n int) []Device {
	words := strings.Fields(strings.ToLower(typed))
	if len(words) == 0 || len(typed) > 200 {
		return nil
	}
	type hit struct {
		device Device
		rank   int
	}
	var hits []hit
	seen := map[string]bool{}
	for _, m := range t.models(slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })) {
		d := m.device
		name := strings.ToLower(strings.TrimPrefix(d.Name, "NVIDIA "))
		alias := strings.Join(m.words, " ") // as people call it
		if seen[name] || d.Vendor == machine.NVIDIA && d.SM.IsZero() || !holds(name, words) && !holds(alias, words) {
			continue
		}
		seen[name] = true
		hits = append(hits, hit{d, rank(name, words)})
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		switch {
		case a.rank != b.rank:
			return a.rank - b.rank
		case a.device.SM != b.device.SM:
			return b.device.SM.Compare(a.device.SM)
		case len(a.device.Name) != len(b.device.Name):
			return len(a.device.Name) - len(b.device.Name)
		}
		return strings.Compare(a.device.Name, b.device.Name)
	})
	return text.Each(hits[:min(n, len(hits))], func(h hit) Device { return h.device })
}

func holds(name string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) })
}

// rank is 0 where each word that was typed is a whole word of the name, 1 where each
// begins one, 2 where it stands within.
func rank(name string, words []string) int {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '(' || r == ')' })
	worst := 0
	for _, w := range words {
		switch {
		case slices.Contains(parts, w):
		case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, w) }):
			worst = max(worst, 1)
		default:
			worst = 2
		}
	}
	return worst
}
