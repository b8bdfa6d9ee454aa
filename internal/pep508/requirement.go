// Package pep508 reads requirements of Python packages and the environment markers
// that say where they count (PEP 508).
package pep508

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A Requirement is one PEP 508 requirement, its local label split off.
type Requirement struct {
	Name   string            `json:"name"` // normalised (PEP 503)
	Extras []string          `json:"extras,omitempty"`
	Spec   version.Specifier `json:"spec,omitzero"`   // without local labels
	Label  string            `json:"label,omitempty"` // of "==2.9.1+cu126"
	Marker string            `json:"marker,omitempty"`
	URL    string            `json:"url,omitempty"`  // of "name @ URL", without a login
	Text   string            `json:"text,omitempty"` // as it was written, without a login
	Login  *Login            `json:"-"`              // that the URL held; nil none
	From   string            `json:"from,omitempty"` // file:line, "" for the command line
}

// Parse reads one PEP 508 requirement, such as
// "torch==2.9.1+cu126", "vllm[audio]>=0.10; python_version >= '3.10'" or
// "torch @ https://…". The name is normalised (PEP 503) and a local label is
// split off, because it is an identity and not a version. from is the file and
// line it was written in, "" for the command line. Its error says which part was
// not understood.
func Parse(written, from string) (Requirement, error) {
	written = strings.TrimSpace(written)
	r := Requirement{Text: written, From: from}
	if written == "" {
		return r, fmt.Errorf("an empty requirement")
	}
	if len(written) > 1000 || strings.ContainsFunc(written, isControl) {
		return r, fmt.Errorf("%q is not a requirement (PEP 508)", text.Cut(written, 80))
	}
	rest, condition := cutMarker(written)
	r.Marker = condition
	if condition != "" && !validMarker(condition) {
		return r, fmt.Errorf("%q: %q is not an environment marker such as python_version >= '3.10'", text.Cut(written, 80), text.Cut(condition, 80))
	}
	if isFile(rest) {
		return r, fmt.Errorf("%q is a file or an address: give it a name, `NAME @ file:///…` or `NAME @ https://…`, or ask for a version", text.Cut(written, 80))
	}
	name, rest := cutName(rest)
	if name == "" {
		return r, fmt.Errorf("%q does not begin with a package name", text.Cut(written, 80))
	}
	r.Name = machine.NormalName(name)
	rest = strings.TrimSpace(rest)
	if after, ok := strings.CutPrefix(rest, "["); ok {
		extras, after, ok := strings.Cut(after, "]")
		if !ok {
			return r, fmt.Errorf("%q: the extras need a closing ]", text.Cut(written, 80))
		}
		for extra := range strings.SplitSeq(extras, ",") {
			n, left := cutName(strings.TrimSpace(extra))
			if n == "" || left != "" {
				return r, fmt.Errorf("%q: %q is not the name of an extra", text.Cut(written, 80), text.Cut(extra, 80))
			}
			r.Extras = append(r.Extras, machine.NormalName(n))
		}
		rest = strings.TrimSpace(after)
	}
	if url, ok := strings.CutPrefix(rest, "@"); ok {
		r.URL = strings.TrimSpace(url)
		if r.URL == "" || strings.ContainsAny(r.URL, " \t") {
			return r, fmt.Errorf("%q: after @ belongs one URL", text.Cut(written, 80))
		}
		address := r.URL
		r.URL, r.Login = cutLogin(address)
		r.Text = strings.Replace(written, address, r.URL, 1)
		return r, nil
	}
	if inner, ok := strings.CutPrefix(rest, "("); ok && strings.HasSuffix(inner, ")") {
		rest = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	}
	return r, r.parseSpec(rest)
}

// Asks reports whether a package is among requirements.
func Asks(list []Requirement, name string) bool {
	return slices.ContainsFunc(list, func(q Requirement) bool { return q.Name == machine.NormalName(name) })
}

// Read are the requirements that lines are; what is none is left out.
func Read(lines []string, from string) (out []Requirement) {
	for _, line := range lines {
		if q, err := Parse(line, from); err == nil {
			out = append(out, q)
		}
	}
	return out
}

// Names are those of requirements.
func Names(of []Requirement) []string {
	return text.Each(of, func(q Requirement) string { return q.Name })
}

// AsksFor reports whether a line of a list, with a comment behind it or without, asks for a
// package, whose name is a normal one.
func AsksFor(line, name string) bool {
	line, _, _ = strings.Cut(line, " #")
	q, err := Parse(line, "")
	return err == nil && q.Name == name
}

// isFile reports whether a requirement is what pip also takes and PEP 508 does
// not: a file, a directory or an address without a name.
func isFile(s string) bool {
	before, _, named := strings.Cut(s, "@")
	if named && !strings.Contains(before, "/") {
		return false
	}
	lower := strings.ToLower(s)
	return strings.Contains(s, "://") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") ||
		slices.ContainsFunc([]string{".whl", ".tar.gz", ".zip"}, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// parseSpec reads the version part. PEP 440 allows a local label with == only.
func (r *Requirement) parseSpec(spec string) error {
	if spec == "" {
		return nil
	}
	clauses := strings.Split(spec, ",")
	for i, c := range clauses {
		c = strings.TrimSpace(c)
		public, label := version.SplitLocal(c)
		if !hasOperator(c) || label == "" && strings.Contains(c, "+") {
			return fmt.Errorf("%q: %q is not a version specifier such as ==2.9.1 or >=2.6,<2.9", text.Cut(r.Text, 80), text.Cut(c, 80))
		}
		if label != "" {
			if !strings.HasPrefix(c, "==") || strings.HasPrefix(c, "===") {
				return fmt.Errorf("%q: a local label such as +%s goes with == only (PEP 440)", text.Cut(r.Text, 80), text.Cut(label, 80))
			}
			if !IsLabel(label) || strings.HasSuffix(public, "*") {
				return fmt.Errorf("%q: %q is not a local label such as +cu126", text.Cut(r.Text, 80), "+"+text.Cut(label, 80))
			}
			if r.Label != "" && r.Label != strings.ToLower(label) {
				return fmt.Errorf("%q asks for two labels, +%s and +%s", text.Cut(r.Text, 80), r.Label, strings.ToLower(label))
			}
			r.Label = strings.ToLower(label)
		}
		clauses[i] = public
	}
	v, err := version.ParseSpecifier(strings.Join(clauses, ","))
	if err != nil {
		return fmt.Errorf("%q: %w", text.Cut(r.Text, 80), err)
	}
	r.Spec = v
	return nil
}

// cutMarker splits at the semicolon that begins an environment marker. A URL may
// hold a semicolon, so there only " ;" begins one (PEP 508).
func cutMarker(s string) (rest, marker string) {
	if _, url, ok := strings.Cut(s, "@"); ok && strings.Contains(url, "://") {
		at := strings.Index(s, " ;")
		if at < 0 {
			return s, ""
		}
		return s[:at], strings.TrimSpace(s[at+2:])
	}
	rest, marker, _ = strings.Cut(s, ";")
	return strings.TrimSpace(rest), strings.TrimSpace(marker)
}

// cutName splits a leading package name (PEP 508: letters, digits, "-", "_" and
// ".", beginning and ending with a letter or digit).
func cutName(s string) (name, rest string) {
	i := 0
	for i < len(s) && (isAlnum(s[i]) || strings.IndexByte("-_.", s[i]) >= 0) {
		i++
	}
	if i == 0 || !isAlnum(s[0]) || !isAlnum(s[i-1]) {
		return "", s
	}
	return s[:i], s[i:]
}

// hasOperator reports whether a clause begins with one of PEP 440's operators; a
// single "=" is none, although the version library takes it.
func hasOperator(clause string) bool {
	return slices.ContainsFunc([]string{"==", "!=", "<=", ">=", "~=", "<", ">"}, func(op string) bool { return strings.HasPrefix(clause, op) })
}

// IsLabel reports whether a text is a local version label, such as cu126 (PEP 440).
func IsLabel(s string) bool {
	if s == "" || len(s) > 40 || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f || r == 0xfffd }

// Line is the requirement as an installer reads it, made from its parsed parts.
func (q Requirement) Line() string {
	s := q.Name + say.If(len(q.Extras) > 0, "["+strings.Join(q.Extras, ",")+"]")
	if q.URL != "" {
		s += " @ " + q.URL
	} else if s += q.Spec.String(); q.Label != "" {
		s += "+" + q.Label
	}
	s += say.With(" ; ", q.Marker, "")
	return s
}
