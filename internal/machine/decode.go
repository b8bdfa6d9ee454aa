package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"envfix/internal/text"
)

// MaxBytes is the largest facts file that is read. Facts are a few KiB; a host
// with hundreds of Pythons stays below 100.
const MaxBytes = 1 << 20

// Read decodes the facts that r holds, and reads at most MaxBytes of it.
func Read(r io.Reader) (Machine, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return Machine{}, err
	}
	return Decode(data)
}

// Decode reads the JSON that Encode writes, or that a person wrote by hand. It
// ignores unknown fields, takes an absent or null field as unknown, and refuses
// what no machine can be. Its error says in one line what is wrong.
func Decode(data []byte) (Machine, error) {
	data = text.UTF8(data)
	if err := checkText(data); err != nil {
		return Machine{}, err
	}
	if err := checkFormat(data); err != nil {
		return Machine{}, err
	}
	type plain Machine
	var in struct {
		plain
		Env map[string]scalar `json:"env"` // in place of the one of plain
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Machine{}, wordJSON(err)
	}
	m := Machine(in.plain)
	m.Format, m.Env = Format, map[string]string{}
	for name, value := range in.Env {
		m.Env[name] = string(value)
	}
	m.normalise()
	if err := m.check(); err != nil {
		return Machine{}, err
	}
	return m, nil
}

// A scalar is a text, or a number or truth value that somebody wrote without
// quotes, as in "CUDA_VISIBLE_DEVICES": 0.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return errors.New("env: text belongs there")
	}
	var text *string
	if err := json.Unmarshal(b, &text); err == nil {
		if text != nil {
			*s = scalar(*text)
		}
		return nil
	}
	*s = scalar(b)
	return nil
}

// Encode returns the facts as indented JSON with a newline at its end.
func (m Machine) Encode() []byte {
	return encoded(m, "  ")
}

// MarshalJSON writes empty lists as [] and {}, never as null, so that readers
// need no case for it.
func (m Machine) MarshalJSON() ([]byte, error) {
	type plain Machine
	m.Format = Format
	m.fill()
	return bytes.TrimSpace(encoded(plain(m), "")), nil
}

func encoded(v any, indent string) []byte {
	b, err := text.Encoded(v, indent)
	if err != nil {
		panic(err) // plain data: cannot happen
	}
	return b
}

// fill replaces nil lists by empty ones.
func (m *Machine) fill() {
	m.GPUs, m.Toolkits, m.Pythons, m.Installed = filled(m.GPUs), filled(m.Toolkits), filled(m.Pythons), filled(m.Installed)
	m.Tools, m.Notes = filled(m.Tools), filled(m.Notes)
	if m.Env == nil {
		m.Env = map[string]string{}
	}
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func checkText(data []byte) error {
	switch {
	case len(data) > MaxBytes:
		return fmt.Errorf("larger than %d KiB: facts are a few KiB of JSON", MaxBytes>>10)
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("empty: facts are JSON, as `envfix facts --json` prints them")
	case !utf8.Valid(data):
		return errors.New("not UTF-8 text: facts are JSON, as `envfix facts --json` prints them")
	}
	return nil
}

// checkFormat reads only the format, so that facts of a newer form get that
// answer whatever else has changed in them.
func checkFormat(data []byte) error {
	var f struct{ Format *json.Number }
	data = bytes.TrimSpace(data)
	if data[0] != '{' {
		return errors.New("not a JSON object: facts are JSON, as `envfix facts --json` prints them")
	}
	err := json.Unmarshal(data, &f)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return wordJSON(err)
	}
	if err != nil || f.Format == nil {
		return fmt.Errorf("no `\"format\": %d`: these are not facts as `envfix facts --json` prints them", Format)
	}
	n, err := f.Format.Int64()
	switch {
	case err != nil || n < 1:
		return fmt.Errorf("format %s is none: these are not facts as `envfix facts --json` prints them", text.Printable(text.Cut(f.Format.String(), 60)))
	case n > Format:
		return fmt.Errorf("these facts need a newer envfix: their format is %d, this envfix reads %d", n, Format)
	}
	return nil
}

// wordJSON turns an error of encoding/json into words for people.
func wordJSON(err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Error(), "unexpected end"):
		return errors.New("the file ends too early: its JSON is cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %s (byte %d)", text.Printable(syntax.Error()), syntax.Offset)
	case errors.As(err, &typed):
		return fmt.Errorf("%s: %s belongs there", text.Printable(strings.TrimPrefix(typed.Field, "plain.")), kind(typed.Type.String()))
	}
	return errors.New(text.Printable(strings.TrimPrefix(err.Error(), "json: ")))
}

func kind(goType string) string {
	switch {
	case strings.Contains(goType, "int"):
		return "a whole number"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["), strings.HasPrefix(goType, "machine."):
		return "an object"
	case goType == "bool":
		return "true or false"
	}
	return "text"
}
