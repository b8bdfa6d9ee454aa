package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/managers"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// completionScripts have each shell ask the program itself for what may come next: the
// rows that completeCommand prints.
var completionScripts = map[string]string{
	"bash": `# bash completion of envfix
_envfix() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    [ "$word" = :files ] || COMPREPLY+=("$word")
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _envfix envfix
`,
	"zsh": `#compdef envfix
_envfix() {
  local -a rows
  rows=(${(f)"$(${words[1]} __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
  local files=${rows[(r):files]}
  rows=(${rows:#:files})
  rows=("${(@)rows//:/\\:}")
  rows=("${(@)rows/$'\t'/:}")
  (( ${#rows} )) && _describe envfix rows
  [[ ${#rows} == 0 || -n $files ]] && _files
}
if [ "$funcstack[1]" = "_envfix" ]; then _envfix "$@"; else compdef _envfix envfix; fi
`,
	"fish": `# fish completion of envfix
function __envfix_complete
  set -l typed (commandline -ct)
  set -l rows (envfix __complete -- (commandline -opc)[2..] "$typed" 2>/dev/null)
  string match -v -- :files $rows
  if test (count $rows) -eq 0; or contains -- :files $rows
    __fish_complete_path "$typed"
  end
end
complete -c envfix -f -a '(__envfix_complete)'
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `EXAMPLES
  source <(envfix completion bash)
  envfix completion zsh > "${fpath[1]}/_envfix"
  envfix completion fish > ~/.config/fish/completions/envfix.fish

EXIT STATUS
  0  the script is on standard output
  2  usage`,
		Action: func(c *cli.Context) error {
			script, ok := completionScripts[c.Args().First()]
			if !ok || c.Args().Len() != 1 {
				return fail.Wrong("name one shell: bash, zsh or fish", "`envfix completion bash`")
			}
			_, err := io.WriteString(c.App.Writer, script)
			return err
		},
	}
}

// completeCommand prints what may stand in the place of its last argument, a word and
// what it is about a row; ":files" where a file may. The scripts of the shells ask it.
func completeCommand() *cli.Command {
	return &cli.Command{Name: "__complete", Hidden: true, Action: func(c *cli.Context) error {
		for _, row := range completions(commands(), c.Args().Slice()) {
			if _, err := fmt.Fprintln(c.App.Writer, strings.TrimRight(row[0]+"\t"+row[1], "\t")); err != nil {
				return err
			}
		}
		return nil
	}}
}

// completions are the words that may stand in the place of the last one.
func completions(cmds []*cli.Command, words []string) (rows [][2]string) {
	if len(words) == 0 {
		return nil
	}
	if words = slices.Clone(words); words[len(words)-1] == "=" { // bash parts --flag=value
		words[len(words)-1] = ""
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "=" })
	before, typed := words[:len(words)-1], words[len(words)-1]
	offer := func(word, about string) {
		if strings.HasPrefix(word, typed) {
			rows = append(rows, [2]string{word, about})
		}
	}
	var c *cli.Command // the command that is named so far
	next := cmds
	for i := 0; i < len(before); i++ {
		w := before[i]
		if found := find(next, w); found != nil {
			c, next = found, found.Subcommands
		}
		if !isFlag(w) || !takesValueSomewhere(w, append(slices.Clone(next), c)) {
			continue
		}
		if i++; i == len(before) { // the value is what is typed
			for _, v := range flagValues(strings.TrimLeft(w, "-")) {
				offer(v, "")
			}
			if rows == nil {
				rows = [][2]string{{":files", ""}}
			}
			return rows
		}
	}
	for _, sub := range shown(next) {
		offer(sub.Name, sub.Usage)
	}
	if c == nil {
		offer("--help", "the help of a command")
		offer("--version", "the version, and that of its data")
		return rows
	}
	for _, f := range shownFlags(c.Flags) {
		_, about := placeholder(f.GetUsage())
		for _, n := range f.Names() {
			offer(dashed(n), about)
		}
	}
	offer("--help", "")
	if len(next) == 0 {
		rows = append(rows, [2]string{":files", ""})
	}
	return rows
}

// shownFlags are the flags that people may type.
func shownFlags(flags []cli.Flag) (out []cli.DocGenerationFlag) {
	for _, f := range flags {
		d, ok := f.(cli.DocGenerationFlag)
		if v, can := f.(cli.VisibleFlag); ok && (!can || v.IsVisible()) {
			out = append(out, d)
		}
	}
	return out
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
