package matrix

import (
	"fmt"
	"reflect"
	"strings"

	"envfix/internal/text"
	"envfix/internal/version"
)

// Format is the number of the data files' form that this program reads.
const Format = 1

// head reads the format and the named sources of a file. ok is false where the
// file is not for this program.
func (o object) head() (names map[string]string, ok bool) {
	f, line := o.scalar("format", false)
	switch {
	case f == "":
		o.s.fault(o.line, "no format: this is not a file of the matrix")
		return nil, false
	case f != fmt.Sprint(Format):
		o.s.fault(line, "format %s: this matrix needs a newer envfix (this one reads format %d)", text.Cut(f, 60), Format)
		return nil, false
	}
	names = map[string]string{}
	m := o.mapping("sources")
	for _, k := range m.keys {
		names[k] = m.text(k)
	}
	return names, true
}

// open returns the root of a file and its named sources. ok is false where the file is not
// for this program.
func (s *source) open(data []byte) (o object, names map[string]string, ok bool) {
	if o, ok = s.parse(data); ok {
		names, ok = o.head()
	}
	return o, names, ok
}

// A rowReader turns rows of one file into values with their sources.
type rowReader struct {
	s     *source
	names map[string]string // the file's sources by name
	all   map[string]string // those of sources.yaml
	used  map[string]bool
	known Proof // how rows that do not say it are known
}

// source reads the row's source: a name of the file's sources.
func (r *rowReader) source(o object) (place, citation string) {
	name, line := o.scalar("source", false)
	r.used[name] = true
	c, ok := r.names[name]
	if !ok {
		c, ok = r.all[name]
	}
	if !ok {
		r.s.fault(line, "source %q is neither among the sources of this file nor in sources.yaml", text.Cut(name, 60))
	}
	return fmt.Sprintf("%s:%d", r.s.file, o.line), c
}

// proof reads how a row is known: its own word, or the file's.
func (r *rowReader) proof(o object) Proof {
	if !o.has("proof") && r.known != "" {
		return r.known
	}
	return o.proof()
}

// knownBy reads the file's word for rows that have none.
func (o object) knownBy() Proof {
	if !o.has("proof") {
		return ""
	}
	return o.proof()
}

func (o object) proof() Proof {
	return Proof(o.one("proof", string(ByWheel), string(ByMetadata), string(ByBuildScript), string(ByDocumentation), string(ByReport), string(ByInference)))
}

// done reports the sources that no row names.
func (r *rowReader) done(o object) {
	for name := range r.names {
		if !r.used[name] {
			r.s.fault(o.line, "source %q is named by no row", text.Cut(name, 60))
		}
	}
}

// readTorch reads one data/torch/X.Y.yaml.
func readTorch(s *source, data []byte, shared map[string]string) []*Release {
	o, names, ok := s.open(data)
	if !ok {
		return nil
	}
	minor, minorLine := o.scalar("torch", true)
	indexes := o.text("indexes")
	r := &rowReader{s: s, names: names, all: shared, used: map[string]bool{}, known: o.knownBy()}
	sets := o.sets()
	var out []*Release
	o.list("releases", func(ro object) {
		rel := &Release{Torch: ro.python("torch"), Date: ro.text("date"), Companions: map[string]version.Python{}}
		rel.Source, rel.Citation = r.source(ro)
		rel.Proof = r.proof(ro)
		for k, v := range ro.byName("companions") {
			rel.Companions[k], _ = version.ParsePython(v)
		}
		if v := rel.Torch.String(); !strings.HasPrefix(v+".", minor+".") {
			s.fault(minorLine, "torch %s is not of %s, which this file says it holds", v, text.Cut(minor, 60))
		}
		ro.list("builds", func(bo object) {
			b := readBuild(r, sets.row(bo))
			b.Release = rel
			if b.Index != "" && !strings.Contains(b.Index, "://") {
				b.Index = indexes + b.Index
			}
			rel.Builds = append(rel.Builds, b)
		})
		ro.done()
		out = append(out, rel)
	})
	sets.done()
	r.done(o)
	o.done()
	return out
}

func readBuild(r *rowReader, o object) *Build {
	b := &Build{Proof: o.proof(), Status: Offered}
	r.fill(o, reflect.ValueOf(b).Elem())
	if o.has("status") {
		b.Status = Status(o.one("status", string(NotAdvertised), string(Limited), string(NotSeen)))
	}
	b.Source, b.Citation = r.source(o)
	o.done()
	return b
}

// pythonRange reads "3.10 - 3.14".
func (o object) pythonRange() (low, high version.Python) {
	t, line := o.scalar("python", true)
	lo, hi, ok := strings.Cut(t, " - ")
	if !ok {
		o.s.fault(line, "python: %q is not a range such as \"3.10 - 3.14\"", text.Cut(t, 60))
		return
	}
	low, err := version.ParsePython(lo)
	if err != nil {
		o.s.fault(line, "python: %v", err)
	}
	if high, err = version.ParsePython(hi); err != nil {
		o.s.fault(line, "python: %v", err)
	}
	return low, high
}

// byName reads a mapping of names to versions; "" says that there is none.
func (o object) byName(key string) map[string]string {
	if !o.has(key) {
		return nil
	}
	return named(o.mapping(key), version.ParsePython)
}

// named reads the versions under the keys of a mapping.
func named[T fmt.Stringer](o object, parse func(string) (T, error)) map[string]string {
	out := map[string]string{}
	for _, k := range o.keys {
		if o.has(k) {
			out[k] = value(o, k, true, parse).String()
		}
	}
	return out
}
