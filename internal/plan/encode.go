package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"envfix/internal/lazy"
	"envfix/internal/text"
	"envfix/resolver"
)

// MaxBytes is the size of the largest plan file that Decode reads.
const MaxBytes = 4 << 20

// ErrChanged reports a plan whose id does not belong to its content: it was
// edited or damaged after it was made.
var ErrChanged = errors.New("the plan was changed after it was made: its id does not belong to its content")

// Seal completes p: lists are never null, and ID is computed over everything
// else.
func Seal(p *Plan) error {
	p.Format = Format
	p.Nearest = orEmpty(p.Nearest)
	p.Alternatives = orEmpty(p.Alternatives)
	p.Reasons = orEmpty(p.Reasons)
	p.Warnings = orEmpty(p.Warnings)
	p.EnvFixes = orEmpty(p.EnvFixes)
	p.Steps = orEmpty(p.Steps)
	if c := p.Keep; c != nil {
		c.Changes, c.Stays, c.Leaves = orEmpty(c.Changes), orEmpty(c.Stays), orEmpty(c.Leaves)
	}
	p.Basis.Request.Requirements = orEmpty(p.Basis.Request.Requirements)
	p.Basis.Facts = p.Basis.Facts.WithoutUse() // changes by the second and decides nothing
	for i := range p.Steps {
		for _, r := range []*Run{p.Steps[i].Run, p.Steps[i].Undo} {
			if r != nil && r.Env == nil {
				r.Env = map[string]string{}
			}
		}
	}
	id, err := digest(p)
	p.ID = id
	return err
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Encode returns the canonical JSON of a sealed plan: two spaces of indent, the
// fields in the order of the types, map keys sorted, one line break at the end.
func Encode(p *Plan) ([]byte, error) {
	b, err := text.Encoded(p, "  ")
	return text.EscapeJSON(b), err
}

func digest(p *Plan) (string, error) {
	q := *p
	q.ID = ""
	b, err := Encode(&q)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Decode reads a plan that Encode wrote. It refuses, with an error that says
// what is wrong, a file that is too large, not UTF-8, not JSON, of another
// format, or that holds a field or a kind of step this program does not know; and
// with [ErrChanged] one whose id does not belong to its content.
func Decode(b []byte) (*Plan, error) {
	switch {
	case len(b) > MaxBytes:
		return nil, fmt.Errorf("it is larger than %d MiB, which no plan is", MaxBytes>>20)
	case len(bytes.TrimSpace(b)) == 0:
		return nil, errors.New("it is empty")
	case !utf8.Valid(b):
		return nil, errors.New("it is not UTF-8 text")
	}
	var head struct {
		Format   int               `json:"format"`
		Decision resolver.Decision `json:"decision"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, jsonError(err)
	}
	switch {
	case head.Format > Format:
		return nil, fmt.Errorf("it has format %d, and this envfix reads format %d: a newer envfix is needed", head.Format, Format)
	case head.Format != Format || head.Decision == "":
		return nil, errors.New("it is JSON, and not a plan")
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, jsonError(err)
	}
	for _, s := range p.Steps {
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	if err := p.named(); err != nil {
		return nil, err
	}
	id, err := digest(&p)
	if err != nil {
		return nil, err
	}
	if p.ID != id {
		return nil, ErrChanged
	}
	return &p, nil
}

func jsonError(err error) error {
	var syntax *json.SyntaxError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		return errors.New("it is truncated: its JSON ends too early")
	}
	if errors.As(err, &syntax) {
		return fmt.Errorf("it is not JSON: %w at byte %d", err, syntax.Offset)
	}
	return err
}

var (
	pythonName = lazy.Regexp(`^(\d{1,2}(\.\d{1,3}){0,2}t?)?$`)
	identifier = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_.]*$`)
)

// named refuses names that a script, or Python, would take for more than a name: they
// stand there without quotes.
func (p *Plan) named() error {
	if !pythonName().MatchString(p.Python) {
		return fmt.Errorf("%q is no version of Python", p.Python)
	}
	for _, s := range p.Steps {
		names := []string{}
		for _, r := range []*Run{s.Run, s.Undo} {
			if r != nil {
				names = slices.AppendSeq(names, maps.Keys(r.Env))
			}
		}
		if s.Verify != nil {
			names = append(names, s.Verify.Imports...)
		}
		for _, name := range names {
			if !identifier().MatchString(name) {
				return fmt.Errorf("step %q: %q is no name of a variable or a module", s.ID, name)
			}
		}
	}
	return nil
}

// check reports a step that has not exactly one kind.
func (s Step) check() error {
	n := 0
	for _, set := range []bool{s.Run != nil, s.Copy != nil, s.Clone != nil, s.Write != nil, s.Block != nil, s.Manual != nil, s.Switch != nil, s.Verify != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("step %q has %d kinds of action instead of one: a newer envfix may be needed", s.ID, n)
	}
	if s.Run != nil && len(s.Run.Argv) == 0 {
		return fmt.Errorf("step %q runs nothing", s.ID)
	}
	if s.Copy != nil && len(s.Copy.Packages) == 0 {
		return fmt.Errorf("step %q copies nothing", s.ID)
	}
	return nil
}
