package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/managers"
	"envfix/internal/team"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

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
			writers := map[string]func(io.Writer, []*cli.Command) error{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			write, ok := writers[c.Args().First()]
			if !ok || c.Args().Len() != 1 {
				return &fail.Error{Code: fail.Usage, Text: "name one shell: bash, zsh or fish", Hints: []string{"`envfix completion bash`"}}
			}
			return write(c.App.Writer, commands())
		},
	}
}

// visible calls f for every command that people may type, with its words.
func visible(cmds []*cli.Command, before string, f func(words string, c *cli.Command) error) error {
	for _, c := range cmds {
		if c.Hidden {
			continue
		}
		words := strings.TrimSpace(before + " " + c.Name)
		if err := f(words, c); err != nil {
			return err
		}
		if err := visible(c.Subcommands, words, f); err != nil {
			return err
		}
	}
	return nil
}

// flagWords are the long and short flags of a command as they are typed.
func flagWords(c *cli.Command) []string {
	var out []string
	for _, f := range c.Flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		for _, n := range f.Names() {
			out = append(out, dashed(n))
		}
	}
	return append(out, "--help")
}

// flagValues are the words that may follow a flag; after any other flag that takes
// a value the shell offers files.
func flagValues() map[string][]string {
	var builds []string
	if m, err := matrix.Embedded(); err == nil {
		for _, r := range m.Releases[:min(12, len(m.Releases))] { // of older ones nobody types the label first
			for _, b := range r.Builds {
				builds = append(builds, b.Label)
			}
		}
		slices.Sort(builds)
		builds = slices.Compact(builds)
	}
	return map[string][]string{
		"manager": managers.Names(),
		"build":   builds,
		"os":      {"linux", "windows", "macos", "wsl2"},
		"arch":    {"x86_64", "aarch64", "arm64"},
		"driver":  {"none"},
		"shell":   {"sh", "fish", "powershell"},
		"format":  team.Formats,
		"channel": {"nightly", "test"},

		"only-index": {"default", "pytorch"},
	}
}

// takingValues lists the flags of all commands that take a value, as they are
// typed, for a pattern of the shell.
func takingValues(cmds []*cli.Command) []string {
	var out []string
	_ = visible(cmds, "", func(_ string, c *cli.Command) error {
		for _, f := range c.Flags {
			if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
				for _, n := range f.Names() {
					out = append(out, dashed(n))
				}
			}
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// bashCompletion offers commands, flags, the values of flags, and files.
func bashCompletion(w io.Writer, cmds []*cli.Command) error {
	var cases, values strings.Builder
	known := flagValues()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&values, "  --%s) mapfile -t COMPREPLY < <(compgen -W %q -- \"$cur\"); return ;;\n", name, strings.Join(known[name], " "))
	}
	err := visible(cmds, "", func(words string, c *cli.Command) error {
		_, err := fmt.Fprintf(&cases, "    %q) words=%q ;;\n", words, strings.Join(append(names(c.Subcommands), flagWords(c)...), " "))
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `# bash completion of envfix
_envfix() {
  local cur=${COMP_WORDS[COMP_CWORD]} path= words= word
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD-1]} in
%s  %s) return ;;
  esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="${path:+$path }$word" ;; esac
  done
  while :; do
    case $path in
    "") words=%q ;;
%s    *) case $path in *" "*) path=${path%% *}; continue ;; esac ;;
    esac
    break
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _envfix envfix
`, values.String(), strings.Join(takingValues(cmds), "|"), strings.Join(append(names(cmds), "--help", "--version"), " "), cases.String())
	return err
}

// zshCompletion offers commands with what they do, then flags and files.
func zshCompletion(w io.Writer, cmds []*cli.Command) error {
	var list, cases, values strings.Builder
	known := flagValues()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&values, "    --%s) compadd -- %s; return ;;\n", name, strings.Join(known[name], " "))
	}
	for _, c := range cmds {
		if !c.Hidden {
			fmt.Fprintf(&list, "    %s\n", zshQuote(c.Name+":"+c.Usage))
		}
	}
	err := visible(cmds, "", func(words string, c *cli.Command) error {
		end := ""
		if len(c.Subcommands) > 0 { // a command follows, no file
			end = "; return"
		}
		_, err := fmt.Fprintf(&cases, "    %s) compadd -- %s%s ;;\n", zshQuote(words), strings.Join(append(names(c.Subcommands), flagWords(c)...), " "), end)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `#compdef envfix
_envfix() {
  local -a list path
  local word key
  list=(
%s  )
  for word in ${words[2,CURRENT-1]}; do
    [[ $word == -* ]] || path+=($word)
  done
  if (( ${#path} == 0 )); then
    _describe command list
    return
  fi
  case ${words[CURRENT-1]} in
%s    %s) _files; return ;;
  esac
  while (( ${#path} > 0 )); do
    key="${(j: :)path}"
    case $key in
%s    *) path[-1]=(); continue ;;
    esac
    break
  done
  _files
}
if [ "$funcstack[1]" = "_envfix" ]; then _envfix "$@"; else compdef _envfix envfix; fi
`, list.String(), values.String(), strings.Join(takingValues(cmds), "|"), cases.String())
	return err
}

func zshQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishCompletion offers commands and flags with what they do.
func fishCompletion(w io.Writer, cmds []*cli.Command) error {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	top, known := strings.Join(names(cmds), " "), flagValues()
	if _, err := fmt.Fprintf(w, "# fish completion of envfix\ncomplete -c envfix -f -n %s\n", quote("not __fish_seen_subcommand_from "+top)); err != nil {
		return err
	}
	after := func(parent string, c *cli.Command) string { // a command of it is still to come
		return quote("__fish_seen_subcommand_from " + parent[strings.LastIndex(parent, " ")+1:] + "; and not __fish_seen_subcommand_from " + strings.Join(names(c.Subcommands), " "))
	}
	parents := map[string]*cli.Command{}
	return visible(cmds, "", func(words string, c *cli.Command) error {
		parent, name := "", words
		if i := strings.LastIndex(words, " "); i >= 0 {
			parent, name = words[:i], words[i+1:]
		}
		when := quote("not __fish_seen_subcommand_from " + top)
		if parent != "" {
			when = after(parent, parents[parent])
		}
		if _, err := fmt.Fprintf(w, "complete -c envfix -n %s -a %s -d %s\n", when, name, quote(c.Usage)); err != nil {
			return err
		}
		if len(c.Subcommands) > 0 { // no file
			parents[words] = c
			if _, err := fmt.Fprintf(w, "complete -c envfix -f -n %s\n", after(words, c)); err != nil {
				return err
			}
		}
		for _, f := range c.Flags {
			d, ok := f.(cli.DocGenerationFlag)
			if v, shown := f.(cli.VisibleFlag); !ok || shown && !v.IsVisible() {
				continue
			}
			_, usage := placeholder(d.GetUsage())
			option := "-l " + f.Names()[0]
			for _, n := range f.Names()[1:] {
				if len(n) == 1 {
					option += " -s " + n
				}
			}
			switch words := known[f.Names()[0]]; {
			case words != nil:
				option += " -x -a " + quote(strings.Join(words, " "))
			case d.TakesValue():
				option += " -r -F"
			}
			if _, err := fmt.Fprintf(w, "complete -c envfix -n %s %s -d %s\n", quote("__fish_seen_subcommand_from "+name), option, quote(usage)); err != nil {
				return err
			}
		}
		return nil
	})
}
