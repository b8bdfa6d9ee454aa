package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"envfix/internal/index"
	"envfix/internal/lazy"
	"envfix/internal/ui"
)

// An indexChoice is the index that a command reads, and who says so.
type indexChoice struct{ address, from string }

// chooseIndex returns the index of --index, or else the installer's own default:
// what pip's or uv's variables and pip's configuration say, or what pip and uv
// were built with. envfix itself knows no index.
func chooseIndex(ctx context.Context, flag string) (indexChoice, error) {
	if flag != "" {
		return indexChoice{flag, "--index"}, nil
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
	return indexChoice{}, &failure{code: exitUsage, text: "no index is configured, and neither pip nor uv is here to name its default",
		hints: []string{"name one: `--index https://HOST/simple`"}}
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
	out := output(ctx, python, "-I", "-c", "from pip._internal.models.index import PyPI\nprint(PyPI.simple_url)")
	if v := strings.TrimSpace(out); strings.HasPrefix(v, "https://") {
		return indexChoice{v, "pip's default"}
	}
	return indexChoice{}
}

// output returns what a program prints, or "" where it fails.
func output(ctx context.Context, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	if cmd.Run() != nil || out.Len() > 1<<20 {
		return ""
	}
	return out.String()
}

// openIndex returns a client for the chosen index.
func openIndex(ctx context.Context, flag string) (*index.Client, indexChoice, error) {
	choice, err := chooseIndex(ctx, flag)
	if err != nil {
		return nil, choice, err
	}
	c, err := index.New(choice.address, index.Options{})
	if err != nil {
		return nil, choice, &failure{code: exitUsage, text: choice.from + ": " + err.Error()}
	}
	return c, choice, nil
}

// indexFailure is an index that cannot be read.
func indexFailure(err error, hints ...string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &failure{code: exitFailed, text: ui.Clean(err.Error()), hints: hints, err: err}
}
