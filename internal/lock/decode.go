package lock

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/text"

	"github.com/pelletier/go-toml/v2"
)

var (
	profileName = lazy.Regexp(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$`)
	hexSHA256   = lazy.Regexp(`^[0-9a-f]{64}$`)
)

// ValidName reports whether a profile may have this name: it becomes part of a
// file name after PEP 751, so it has no dot.
func ValidName(s string) bool { return profileName().MatchString(s) }

// Decode reads an envfix.lock and refuses whatever is not exactly what Encode
// writes: an unknown or duplicate key, another schema, conflict markers, more
// than [MaxBytes], a digest that does not fit. Its errors say what is wrong and
// what to do.
func Decode(b []byte) (*Lock, error) {
	b = Text(b)
	if err := readable(File, b); err != nil {
		return nil, err
	}
	var head struct {
		Schema         int    `toml:"schema"`
		RequiresEnvfix string `toml:"requires-envfix"`
	}
	if err := toml.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", File, describe(err))
	}
	switch {
	case head.Schema == 0:
		return nil, fmt.Errorf("%s: it has no schema number: not a lock of envfix", File)
	case head.Schema != Schema:
		return nil, fmt.Errorf("%s: schema %d needs another envfix (%s); this one reads schema %d", File, head.Schema, text.Clip(head.RequiresEnvfix, 120), Schema)
	}
	var l Lock
	if err := decodeStrict(b, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	if err := oneLine(reflect.ValueOf(l)); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	if err := l.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	return &l, l.unchanged(b)
}

// unchanged refuses bytes that Encode would not have written.
func (l *Lock) unchanged(b []byte) error {
	sum, err := l.digest()
	if err != nil {
		return err
	}
	again, err := l.marshal()
	if err != nil {
		return err
	}
	if sum != l.ContentSHA256 || !bytes.Equal(again, b) {
		return fmt.Errorf("%s: its content does not fit its own digest: it was edited by hand or merged; `envfix lock` writes it again", File)
	}
	return nil
}

func (l *Lock) validate() error {
	sum, err := l.Input.Digest()
	if err != nil {
		return err
	}
	if sum != l.InputSHA256 {
		return errors.New("input-sha256 does not fit [input]; `envfix lock` writes it again")
	}
	if len(l.Profiles) == 0 {
		return errors.New("it has no profile")
	}
	seen := map[string]bool{}
	for _, p := range l.Profiles {
		switch {
		case !ValidName(p.Name):
			return fmt.Errorf("profile name %q: want lower-case letters, digits, - and _", text.Clip(p.Name, 120))
		case seen[p.Name]:
			return fmt.Errorf("two profiles are called %s", p.Name)
		case p.Pylock.File != PylockName(p.Name):
			return fmt.Errorf("profile %s: pylock file %q, want %s", p.Name, text.Clip(p.Pylock.File, 120), PylockName(p.Name))
		case !hexSHA256().MatchString(p.Pylock.SHA256):
			return fmt.Errorf("profile %s: its pylock has no sha256", p.Name)
		}
		if err := p.grammar(); err != nil {
			return err
		}
		seen[p.Name] = true
	}
	return nil
}

// Text is what a file holds with the line ends that it was written with: Git for
// Windows makes CRLF of LF by default (core.autocrlf), and content is what digests
// are of.
func Text(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// readable refuses what should not even be parsed.
func readable(name string, b []byte) error {
	switch {
	case len(b) > MaxBytes:
		return fmt.Errorf("%s: %d bytes, more than the %d MiB that a lock may have", name, len(b), MaxBytes>>20)
	case len(bytes.TrimSpace(b)) == 0:
		return fmt.Errorf("%s: it is empty", name)
	case bytes.IndexByte(b, 0) >= 0:
		return fmt.Errorf("%s: not a text file", name)
	}
	for line := range bytes.Lines(b) {
		for _, marker := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
			if bytes.HasPrefix(line, []byte(marker)) {
				return fmt.Errorf("%s: unresolved merge conflict; take either side, then run `envfix lock`", name)
			}
		}
	}
	if err := text.BoundTOML(b); err != nil {
		return fmt.Errorf("%s: %w: this is no lock", name, err)
	}
	return nil
}

// unmarshal reads a project's TOML, whatever its keys.
func unmarshal(b []byte, v any) error {
	if err := text.BoundTOML(b); err != nil {
		return err
	}
	return toml.Unmarshal(b, v)
}

// decodeStrict reads TOML and refuses keys that v does not have.
func decodeStrict(b []byte, v any) error {
	if err := text.BoundTOML(b); err != nil {
		return err
	}
	err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(v)
	if err != nil {
		return describe(err)
	}
	return nil
}

// describe turns an error of the TOML library into one line with its place.
func describe(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: unknown key %s", row, text.Clip(strings.Join(strict.Errors[0].Key(), "."), 120))
	}
	if dec, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := dec.Position()
		return fmt.Errorf("line %d: %s", row, text.Clip(dec.Error(), 120))
	}
	return err
}
