package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/managers"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func completionCommand() *cli.Command {
	return declared("completion", func(c *cli.Context) error {
		script, ok := cmdline.Scripts[c.Args().First()]
		if !ok || c.Args().Len() != 1 {
			return fail.Wrong("name one shell: bash, zsh or fish", "`envfix completion bash`")
		}
		_, err := io.WriteString(c.App.Writer, script)
		return err
	})
}

// completeCommand prints what may stand in the place of its last argument, a word and
// what it is about a row; ":files" where a file may. The scripts of the shells ask it.
func completeCommand() *cli.Command {
	return &cli.Command{Name: "__complete", Hidden: true, Action: func(c *cli.Context) error {
		for _, row := range cmdline.Completions(commands(), flagValues, c.Args().Slice()) {
			if _, err := fmt.Fprintln(c.App.Writer, strings.TrimRight(row[0]+"\t"+row[1], "\t")); err != nil {
				return err
			}
		}
		return nil
	}}
}

// flagValues are the words that may follow a flag; after any other flag that takes
// a value the shell offers files.
func flagValues(flag string) []string {
	switch flag {
	case "manager":
		return managers.Names()
	case "os":
		return []string{"linux", "windows", "macos", "wsl2"}
	case "arch":
		return []string{"x86_64", "aarch64", "arm64"}
	case "driver":
		return []string{"none"}
	case "shell":
		return []string{"sh", "fish", "powershell"}
	case "format":
		return team.Formats
	case "channel":
		return []string{"nightly", "test"}
	case "only-index":
		return []string{"default", "pytorch"}
	case "build":
		var builds []string
		m := matrix.Embedded()
		for _, r := range m.Releases[:min(12, len(m.Releases))] { // of older ones nobody types the label first
			builds = append(builds, text.Each(r.Builds, func(b *matrix.Build) string { return b.Label })...)
		}
		slices.Sort(builds)
		return slices.Compact(builds)
	}
	return nil
}
