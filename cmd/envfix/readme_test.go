package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// TestReadme runs every transcript of the README: a block ```console whose first
// line is "$ envfix …". Each further line must be printed, in that order; a line
// "…" stands for any number of lines.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
	blocks := strings.Split(string(text), "```console\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("only %d transcripts", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		lines := strings.Split(strings.TrimSpace(block), "\n")
		args, err := shell.Fields(strings.TrimPrefix(lines[0], "$ "), nil)
		if err != nil || args[0] != "envfix" {
			t.Fatalf("%q is not a command line of envfix: %v", lines[0], err)
		}
		if missing := outOfOrder(lines[1:], stdoutOf(t, args)); missing != "" {
			t.Errorf("%s\n does not print %q where the README has it", lines[0], missing)
		}
	}
}

// outOfOrder returns the first wanted line that got lacks, "" where all are there.
func outOfOrder(want []string, got string) string {
	rest := strings.Split(strings.TrimRight(got, "\n"), "\n")
	skip := false
	for _, w := range want {
		if w == "…" {
			skip = true
			continue
		}
		for skip && len(rest) > 0 && rest[0] != w {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] != w {
			return w
		}
		rest, skip = rest[1:], false
	}
	if len(rest) > 0 && !skip {
		return "(nothing after the last line)"
	}
	return ""
}

// stdoutOf runs the program in an empty directory and returns what it prints to
// standard output.
func stdoutOf(t *testing.T, args []string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	t.Chdir(t.TempDir())
	terminal := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = terminal }()
	run(context.Background(), args)
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
