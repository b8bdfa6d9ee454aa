package cmdline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Scripts have each shell ask the program itself for what may come next: the
// rows that completeCommand prints.
var Scripts = map[string]string{
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

// Completions are the words that may stand in the place of the last one; values are those that
// may follow a flag.
func Completions(cmds []*cli.Command, values func(flag string) []string, words []string) (rows [][2]string) {
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
		if found := Find(next, w); found != nil {
			c, next = found, found.Subcommands
		}
		if !isFlag(w) || !takesValueSomewhere(w, append(slices.Clone(next), c)) {
			continue
		}
		if i++; i == len(before) { // the value is what is typed
			for _, v := range values(strings.TrimLeft(w, "-")) {
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
			offer(Dashed(n), about)
		}
	}
	offer("--help", "")
	if len(next) == 0 {
		rows = append(rows, [2]string{":files", ""})
	}
	return rows
}
