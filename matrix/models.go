package matrix

import (
	"iter"
	"strings"

	"envfix/internal/machine"
)

// keyWord is the word that tells most: rows without it cannot match.
func keyWord(words []string) string {
	if w := without(words, isMemory, isForm, isBoard, isLine); len(w) > 0 {
		words = w
	}
	best := words[0]
	for _, w := range words[1:] {
		digits, already := strings.ContainsAny(w, "0123456789"), strings.ContainsAny(best, "0123456789")
		if digits && !already || digits == already && len(w) > len(best) {
			best = w
		}
	}
	return best
}

// models reads the names of the rows that hold a word; "" is in all of them.
func (t *DeviceTable) models(word string) []modelName {
	m := &modelReader{table: t, seen: map[modelKey]bool{}}
	for row := range rowsWith(t.text, t.lower, word) {
		m.row(strings.Split(row, "\t"), modelRows)
	}
	for row := range rowsWith(t.names, t.lnames, word) {
		f := strings.Split(row, "\t")
		m.row(f, namedRows)
		if f[0] == "alias" && len(f) == 3 {
			target := nameWords(f[2])
			other := &modelReader{table: t, seen: map[modelKey]bool{}}
			for row := range rowsWith(t.text, t.lower, keyWord(target)) {
				other.row(strings.Split(row, "\t"), modelRows)
			}
			for _, d := range find(other.names, target, sameWords) {
				m.add(f[1], d)
			}
		}
	}
	return m.names
}

// rowsWith yields the lines of a text that hold a word; lower is the text in
// lower case.
func rowsWith(text, lower, word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; at < len(text); {
			i := strings.Index(lower[at:], word)
			if i < 0 {
				return
			}
			start := strings.LastIndexByte(text[:at+i], '\n') + 1
			end := strings.IndexByte(text[start:], '\n')
			if end < 0 {
				end = len(text) - start
			}
			if !yield(text[start : start+end]) {
				return
			}
			at = start + end + 1
		}
	}
}

// lowerASCII keeps every byte in its place, as strings.ToLower does not promise.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

type modelReader struct {
	table *DeviceTable
	names []modelName
	seen  map[modelKey]bool
}

type modelKey struct {
	name, chip string
	sm         machine.SM
	modules    int
	unlisted   bool
}

func (m *modelReader) add(name string, d Device) {
	key := modelKey{name, d.Chip, d.SM, len(d.Modules), d.Unlisted}
	if m.seen[key] {
		return
	}
	m.seen[key] = true
	if words := nameWords(name); len(words) > 0 {
		m.names = append(m.names, modelName{words, d})
	}
}

func (m *modelReader) row(f []string, columns map[string]int) {
	if d, ok := m.table.device(f, columns); ok {
		if d.Vendor == machine.NVIDIA { // each of many boards: the name is what they share
			d.PCI, d.Subsystem = "", ""
		}
		m.add(d.Name, d)
	}
}
