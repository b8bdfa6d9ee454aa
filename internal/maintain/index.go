// Package maintain keeps the compatibility data true: it proves rows from the wheels
// of an index, drafts a new release from them, compares two versions of the data and
// says which recorded machines would get another answer.
//
// It reads indexes, files and git; it prints nothing and reads no flags. What it
// returns as an error is a [fail.Error].
package maintain

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
)

// Index is an open package index, and who says that it is the one.
type Index struct {
	*index.Client
	From string // --index, a variable's name, pip's configuration …
}

// Name is what the index is called in an answer: its address where somebody named
// it, else whose word it is; the address of the default is not repeated.
func (x *Index) Name() string {
	return say.Either(x.From == fromFlag, x.Address(), x.From)
}

// Received is how many bytes were read until now.
func (x *Index) Received() int64 {
	bytes, _ := x.Cost()
	return bytes
}

const fromFlag = "--index"

// an indexChoice is the index that a command reads, and who says so.
type indexChoice struct{ address, from string }

// chooseIndex returns the index of --index, or else the installer's own default:
// what pip's or uv's variables and pip's configuration say, or what pip and uv
// were built with. envfix itself knows no index.
func chooseIndex(ctx context.Context, flag string) (indexChoice, error) {
	if flag != "" {
		return indexChoice{flag, fromFlag}, nil
	}
	for _, name := range []string{"PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"} {
		if v := os.Getenv(name); v != "" {
			return indexChoice{v, name}, nil
		}
	}
	for _, python := range []string{"python3", "python"} {
		if v := pipIndex(ctx, python); v.address != "" {
			return v, nil
		}
	}
	if m := uvDefault().FindStringSubmatch(output(ctx, "uv", "pip", "install", "--help")); m != nil {
		return indexChoice{m[1], "uv's default"}, nil
	}
	return indexChoice{}, fail.Wrong("no index is configured, and neither pip nor uv is here to name its default",
		"name one: `--index https://HOST/simple`")
}

// "The URL of the default package index (by default: <https://HOST/simple>)"
var uvDefault = lazy.Regexp(`default package index \(by default:\s*<?(https://[^\s<>)]+)`)

// "global.index-url='https://HOST/simple'"
var pipSetting = lazy.Regexp(`(?m)^(?:global|install|site|user|:env:)\.index-url='([^']*)'`)

// pipIndex asks a Python's pip for its configuration, and then for what it was
// built with. -I keeps the working directory out of Python's path.
func pipIndex(ctx context.Context, python string) indexChoice {
	if m := pipSetting().FindAllStringSubmatch(output(ctx, python, "-I", "-m", "pip", "config", "list"), -1); m != nil {
		return indexChoice{m[len(m)-1][1], "pip's configuration"}
	}
	if v := PipDefault(ctx, python); v != "" {
		return indexChoice{v, "pip's default"}
	}
	return indexChoice{}
}

// PipDefault is the index that the pip of a Python takes packages from where nobody names
// one; "" without a pip.
func PipDefault(ctx context.Context, python string) string {
	out := strings.TrimSpace(output(ctx, python, "-I", "-c", "from pip._internal.models.index import PyPI\nprint(PyPI.simple_url)"))
	return say.If(strings.HasPrefix(out, "https://"), out)
}

// output returns what a program prints, or "" where it fails.
func output(ctx context.Context, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	return say.If(cmd.Run() == nil && out.Len() <= 1<<20, out.String())
}

// Open returns the index at an address, or where that is "" the installer's own
// default.
func Open(ctx context.Context, address string) (*Index, error) {
	choice, err := chooseIndex(ctx, address)
	if err != nil {
		return nil, err
	}
	c, err := index.New(choice.address, index.Options{})
	if err != nil {
		return nil, fail.Wrong(choice.from + ": " + err.Error())
	}
	return &Index{c, choice.from}, nil
}

// unreadable is an index that cannot be read.
func unreadable(err error, hints ...string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &fail.Error{Code: fail.Failed, Text: text.Printable(err.Error()), Hints: hints, Err: err}
}
