package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

// command is what is run, as it may be shown.
func (o Options) command() []string {
	out := text.RedactArgv(o.Command, text.Secrets(o.Env)...)
	out = slices.Clone(out[:min(len(out), 64)])
	scrub(reflect.ValueOf(out), longest)
	return out
}

// mostBytes is how large a recording may be.
const mostBytes = 1 << 20

// Encode writes a trace as JSON of at most 1 MB; a longer one loses resolution,
// then processes that are neither leading nor large.
func Encode(t *verdict.Trace) ([]byte, error) {
	c := *t
	for {
		b, err := json.Marshal(&c)
		switch {
		case err != nil:
			return nil, err
		case len(b) < mostBytes:
			return append(b, '\n'), nil
		case len(c.Frames) > 20:
			c.Frames = verdict.Halve(c.Frames)
		case len(c.Processes) > 8:
			c.Processes = c.Processes[:len(c.Processes)/2]
		default:
			return nil, errors.New("the recording does not fit into 1 MB")
		}
	}
}

// Load reads a recording.
func Load(path string) (*verdict.Trace, error) { return read(path, Decode) }

func read[T any](path string, decode func([]byte) (T, error)) (out T, err error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 && !strings.HasPrefix(path, "/dev/") {
		return out, fmt.Errorf("%s is a pipe, not a file", path) // whose writer may never come
	}
	f, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<20))
	if err != nil {
		return out, err
	}
	if out, err = decode(data); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

// LoadReport reads what --report wrote, or judges what --save wrote.
func LoadReport(path string) (verdict.Report, error) { return read(path, decodeReport) }

func decodeReport(data []byte) (r verdict.Report, err error) {
	var of struct {
		Verdict string          `json:"verdict"`
		Frames  json.RawMessage `json:"frames"`
	}
	if json.Unmarshal(data, &of) == nil && of.Verdict != "" && of.Frames == nil {
		if err = json.Unmarshal(data, &r); err == nil && r.Format > verdict.Format {
			err = fmt.Errorf("written by a newer envfix (format %d)", r.Format)
		}
		return r, err
	}
	t, err := Decode(data)
	if err == nil {
		r = verdict.Judge(t)
	}
	return r, err
}

// Decode reads what Encode wrote. Text in it is outside text and is cleaned; what a
// trace cannot hold is an error.
func Decode(data []byte) (*verdict.Trace, error) {
	var t verdict.Trace
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("not a recording of `envfix run --save`: %w", err)
	}
	switch {
	case t.Format > verdict.Format:
		return nil, fmt.Errorf("recorded by a newer envfix (format %d)", t.Format)
	case t.Format < 1 || t.Seconds < 0 || len(t.Frames) > 100*mostFrames || len(t.GPUs) > 64:
		return nil, errors.New("not a recording of `envfix run --save`")
	}
	scrub(reflect.ValueOf(&t), longest)
	return &t, nil
}

const longest = 300 // characters of a text, unless its field's tag `most` says another number

// scrub cleans every text of a value that came from outside, and takes away what is
// below zero, or beyond any job.
func scrub(v reflect.Value, most int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scrub(v.Elem(), most)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n, err := strconv.Atoi(v.Type().Field(i).Tag.Get("most"))
			if err != nil {
				n = most
			}
			scrub(v.Field(i), n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			scrub(v.Index(i), most)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			key, of := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(it.Key())
			of.Set(it.Value())
			scrub(key, most)
			scrub(of, most)
			v.SetMapIndex(it.Key(), reflect.Value{})
			v.SetMapIndex(key, of)
		}
	case reflect.String:
		v.SetString(text.Clip(v.String(), most))
	case reflect.Int, reflect.Int64:
		v.SetInt(min(max(0, v.Int()), 1<<60))
	case reflect.Float64:
		v.SetFloat(min(max(0, v.Float()), 1e15))
	}
}
