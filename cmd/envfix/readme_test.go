package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/cmdline"

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

// TestReadmeCommands checks the commands of the README that print too much to be
// quoted, or that need a network: those of its shell blocks and those in a line.
// Each is one of the program with flags that it has, or a target of the Makefile.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, block := range strings.Split(string(text), "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		lines = append(lines, strings.Split(strings.TrimSpace(block), "\n")...)
	}
	for _, m := range regexp.MustCompile("`((?:envfix|make)(?: [^`]*)?)`").FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, strings.NewReplacer("[", "", "]", "", "…", "", "COMMAND", "plan").Replace(m[1]))
	}
	checked := 0
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " >")
		args, err := shell.Fields(line, nil)
		if err != nil || len(args) == 0 {
			t.Errorf("%q is not a command line: %v", line, err)
			continue
		}
		switch {
		case args[0] == "make" && len(args) > 1:
			if !strings.Contains(string(makefile), "\n"+args[1]+": ") {
				t.Errorf("%q: the Makefile has no such target", line)
			}
			checked++
		case args[0] == "envfix":
			if in, err := cmdline.Parse(args, commands()); err != nil || len(args) > 1 && in.Command() == nil {
				t.Errorf("%q: %v", line, err)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d commands were found", checked)
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
