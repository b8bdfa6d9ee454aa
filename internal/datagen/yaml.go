package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A pair is a key and its value; an empty value is not written.
type pair struct{ key, value string }

// A raw value is written as it is: true, 580, {a: b}.
const raw = "\x00"

// plain is text that YAML cannot read as anything but text.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]*$`)

func scalar(v string) string {
	if r, ok := strings.CutPrefix(v, raw); ok {
		return r
	}
	if plain.MatchString(v) && !isYAMLWord(v) {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\t", " ").Replace(v) + `"`
}

func isYAMLWord(v string) bool {
	switch strings.ToLower(v) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return true
	}
	return false
}

// flow writes {a: b, c: "1.2"}, empty values left out.
func flow(pairs []pair) string {
	var parts []string
	for _, p := range pairs {
		if p.value != "" {
			parts = append(parts, p.key+": "+scalar(p.value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// yes is true or nothing.
func yes(b bool) string {
	if b {
		return raw + "true"
	}
	return ""
}

// A file is a data file being written: its sources get names, its repetitions
// become sets.
type file struct {
	about   []string
	head    []pair
	sources []string // texts, named in order
	names   map[string]string
	sets    []string
	setName map[string]string // flow text → name
	taken   map[string]bool
	body    strings.Builder
}

func newFile(about ...string) *file {
	return &file{about: about, names: map[string]string{}, setName: map[string]string{}, taken: map[string]bool{}}
}

// source returns the name of a source text.
func (f *file) source(hint, text string) string {
	if text == "" {
		text = "not recorded"
	}
	if n, ok := f.names[text]; ok {
		return n
	}
	n := unusedName(hint, func(n string) bool {
		for _, v := range f.names {
			if v == n {
				return true
			}
		}
		return false
	})
	f.names[text] = n
	f.sources = append(f.sources, text)
	return n
}

// set returns the name of a set of these pairs.
func (f *file) set(hint string, pairs []pair) string {
	text := flow(pairs)
	if n, ok := f.setName[text]; ok {
		return n
	}
	n := unusedName(hint, func(n string) bool { return f.taken[n] })
	f.taken[n] = true
	f.setName[text] = n
	f.sets = append(f.sets, fmt.Sprintf("  %s: %s\n", n, text))
	return n
}

func unusedName(hint string, used func(string) bool) string {
	n := hint
	for i := 2; used(n); i++ {
		n = fmt.Sprintf("%s-%d", hint, i)
	}
	return n
}

func (f *file) line(format string, args ...any) { fmt.Fprintf(&f.body, format+"\n", args...) }

// row writes one row of a list.
func (f *file) row(indent int, pairs []pair) {
	f.line("%s- %s", strings.Repeat(" ", indent), flow(pairs))
}

// bytes is the whole file.
func (f *file) bytes() []byte {
	var b strings.Builder
	for _, a := range f.about {
		b.WriteString("# " + a + "\n")
	}
	b.WriteString("# Written by internal/datagen from the collected facts; see README.md.\n")
	b.WriteString("format: 1\n")
	for _, h := range f.head {
		b.WriteString(h.key + ": " + scalar(h.value) + "\n")
	}
	if len(f.sources) > 0 {
		b.WriteString("\nsources:\n")
	}
	for _, s := range f.sources {
		b.WriteString("  " + f.names[s] + ": " + scalar(s) + "\n")
	}
	if len(f.sets) > 0 {
		b.WriteString("\nsets:\n" + strings.Join(f.sets, ""))
	}
	b.WriteString("\n" + f.body.String())
	return []byte(b.String())
}
