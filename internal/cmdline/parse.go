// Package cmdline is the grammar of the program's own command line: flags anywhere among the
// arguments, what was meant by a word that is none, the text of --help, and what a shell may
// complete. It declares no command, and knows none but by what it is given.
package cmdline

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/near"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/xslices"

	"github.com/urfave/cli/v2"
)

// An Invocation is what the arguments say before any command runs.
type Invocation struct {
	Path    []*cli.Command // the commands named, outermost first
	Argv    []string       // for the CLI library: program, path, flags, "--", positionals
	Help    bool
	Version bool
	Verbose bool // beside --version
	JSON    bool // an error must be JSON too
}

// Command is the innermost command, nil for the program itself.
func (in Invocation) Command() *cli.Command {
	if len(in.Path) == 0 {
		return nil
	}
	return in.Path[len(in.Path)-1]
}

// words are the names of the commands.
func (in Invocation) words() []string {
	return text.Each(in.Path, func(c *cli.Command) string { return c.Name })
}

// Parse puts the flags of args before the positionals, because the CLI library
// alone takes every argument after the first positional for another positional.
// "--" ends the flags; so does the command line of `envfix run`.
func Parse(args []string, cmds []*cli.Command) (Invocation, error) {
	var in Invocation
	rest, early, unknown := descend(&in, args[1:], cmds)
	p := splitter{in: &in, flags: FlagsOf(in.Command()), all: cmds}
	flags, operands, err := p.split(append(early, rest...))
	if err = cmp.Or(unknown, err); err != nil {
		return in, err
	}
	in.Argv = slices.Concat(args[:1], in.words(), flags)
	if len(operands) > 0 {
		in.Argv = append(append(in.Argv, "--"), operands...)
	}
	return in, nil
}

// descend finds the commands in args. It returns what stands behind them, and
// the flags that stood before or between them.
func descend(in *Invocation, args []string, cmds []*cli.Command) (rest, early []string, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return args[i:], early, nil
		}
		if isFlag(a) {
			early = append(early, a)
			if takesValueSomewhere(a, cmds) && i+1 < len(args) {
				i++
				early = append(early, args[i])
			}
			continue
		}
		if a == "help" && !in.Help {
			in.Help = true
			continue
		}
		c := Find(cmds, a)
		if c == nil {
			if len(in.Path) == 0 {
				return args[i:], early, unknownCommand("", a, Names(cmds))
			}
			if in.Command().Action == nil {
				return args[i:], early, unknownCommand(" "+strings.Join(in.words(), " "), a, Names(cmds))
			}
			return args[i:], early, nil
		}
		in.Path = append(in.Path, c)
		if cmds = c.Subcommands; len(cmds) == 0 {
			return args[i+1:], early, nil
		}
	}
	return nil, early, nil
}

// A splitter tells flags from positionals for one command.
type splitter struct {
	in    *Invocation
	flags map[string]cli.Flag
	all   []*cli.Command // the program's
}

// split goes on behind what is wrong, of which the first is told: a wrong flag must be readable,
// too, for who asks for JSON behind it.
func (p splitter) split(args []string) (flags, operands []string, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return flags, append(operands, args[i+1:]...), err
		}
		if !isFlag(a) {
			if c := p.in.Command(); c != nil && slices.Contains(RunsAnother, c.Name) {
				return flags, append(operands, args[i:]...), err
			}
			operands = append(operands, a)
			continue
		}
		name, value, attached := cutFlag(a)
		f, ok := p.flags[name]
		p.in.JSON = p.in.JSON || a == "--json" || a == "--json=true"
		if p.everywhere(name, ok) {
			continue
		}
		if cluster := ok && IsBool(f) && attached && !strings.HasPrefix(a, "--"); !ok || cluster {
			err = cmp.Or(err, p.unknownFlag(a))
			continue
		}
		if IsBool(f) {
			flags = append(flags, a)
			continue
		}
		if !attached {
			if i+1 == len(args) || args[i+1] == "--" {
				err = cmp.Or[error](err, fail.Wrong(fmt.Sprintf("flag `%s` needs a value", name), p.helpHint()))
				continue
			}
			i++
			value = args[i]
		}
		flags = append(flags, name+"="+value)
	}
	return flags, operands, err
}

// everywhere takes the flags that every command understands, though not every one has
// more to say; known: the command has one of that name.
func (p splitter) everywhere(name string, known bool) bool {
	switch {
	case name == "--help" || name == "-h":
		p.in.Help = true
	case (name == "--version" || name == "-V") && len(p.in.Path) == 0:
		p.in.Version = true
	case (name == "-v" || name == "--verbose") && !known:
		p.in.Verbose = true
	default:
		return false
	}
	return true
}

// RunsAnother are the commands whose first positional begins another program's
// command line: its flags are none of ours.
var RunsAnother = []string{"run", "exec"}

func (p splitter) helpHint() string {
	if len(p.in.Path) == 0 {
		return "`envfix --help` lists the commands"
	}
	return fmt.Sprintf("`envfix %s --help` lists its flags", strings.Join(p.in.words(), " "))
}

func (p splitter) unknownFlag(arg string) error {
	name, _, _ := strings.Cut(arg, "=")
	f := fail.Wrong(fmt.Sprintf("unknown flag `%s`", ui.Clean(name)))
	switch said := elsewhere()[name]; {
	case p.ofOthers(name) != nil:
		f.Hints = append(f.Hints, "it is a flag of "+strings.Join(say.Few(p.ofOthers(name), 3, "and %d more"), ", "))
	case said != "" && len(name) > 1:
		f.Hints = append(f.Hints, said)
	default:
		f.Hints = append(f.Hints, meant(name, slices.Sorted(maps.Keys(p.flags)))...)
	}
	f.Hints = append(f.Hints, p.helpHint())
	return f
}

// ofOthers are the commands that have a flag of that name.
func (p splitter) ofOthers(flag string) (names []string) {
	for _, c := range shown(p.all) {
		if FlagsOf(c)[flag] != nil {
			names = append(names, "`envfix "+c.Name+"`")
		}
	}
	return names
}

// meant is the hint at a word that was mistyped by a letter or two, or not typed to
// its end: the nearest of those; nothing where no word is so near.
func meant(word string, known []string) []string {
	apart := func(k string) int { return near.Distance(strings.ToLower(word), strings.ToLower(k)) }
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		letters, of := strings.Trim(word, "-"), strings.Trim(k, "-") // the dashes are in every flag
		most := max(len(letters), len(of)) / 2
		if letters != "" && strings.HasPrefix(of, letters[:1]) {
			most++
		}
		return apart(k) > most || apart(k) >= len(letters) && !strings.HasPrefix(of, letters) || near.Distance(word, k) > 2 && !strings.HasPrefix(k, word)
	})
	if len(known) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("did you mean `%s`?", slices.MinFunc(known, func(a, b string) int { return apart(a) - apart(b) }))}
}

//go:embed elsewhere.txt
var elsewhereText string

// elsewhere are words that people type who know other programs, and what does the same here.
var elsewhere = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(elsewhereText) {
		words, says, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, w := range strings.Fields(words) {
			m[w] = says
		}
	}
	return m
})

// unknownCommand is the error for a name that is none of the commands known of the words
// before it, "" for the program's own.
func unknownCommand(of, name string, known []string) error {
	what, hints := "command", meant(name, known)
	if of != "" {
		what = "`envfix" + of + "` command"
	} else if said, ok := elsewhere()[strings.ToLower(name)]; ok {
		hints = []string{said}
	} else if len(hints) == 0 {
		hints = meantElsewhere(strings.ToLower(name))
	}
	return fail.Wrong(fmt.Sprintf("unknown %s `%s`", what, ui.Clean(name)), append(hints, "`envfix"+of+" --help` lists the commands")...)
}

// meantElsewhere is the hint at a command of another program that was mistyped by a letter.
func meantElsewhere(word string) []string {
	for _, k := range slices.Sorted(maps.Keys(elsewhere())) {
		if len(k) > 3 && near.Distance(word, k) == 1 {
			return []string{strings.Replace(elsewhere()[k], "does that", "does what `"+k+"` does elsewhere", 1)}
		}
	}
	return nil
}

// Taking is an action that takes so many arguments and no more.
func Taking(most int, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > most {
			return fail.Wrong(fmt.Sprintf("unexpected argument `%s`", ui.Clip(c.Args().Get(most), 60)),
				fmt.Sprintf("`%s --help` shows the usage", c.Command.HelpName))
		}
		return action(c)
	}
}

func isFlag(a string) bool { return len(a) > 1 && a[0] == '-' }

// cutFlag splits "--cuda=12.6" and, for one-letter flags, "-rFILE".
func cutFlag(a string) (name, value string, attached bool) {
	if strings.HasPrefix(a, "--") {
		return strings.Cut(a, "=")
	}
	if len(a) > 2 {
		return a[:2], strings.TrimPrefix(a[2:], "="), true
	}
	return a, "", false
}

// FlagsOf are the flags of a command under each of their names, with their dashes.
func FlagsOf(c *cli.Command) map[string]cli.Flag {
	m := map[string]cli.Flag{}
	if c == nil {
		return m
	}
	for _, f := range c.Flags {
		for _, n := range f.Names() {
			m[Dashed(n)] = f
		}
	}
	return m
}

// Dashed is a flag's name as it is typed.
func Dashed(name string) string {
	return say.Either(len(name) == 1, "-"+name, "--"+name)
}

// IsBool reports whether a flag takes no value.
func IsBool(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// takesValueSomewhere reports whether a flag that stands before its command is
// followed by a value; the command is not known yet.
func takesValueSomewhere(a string, cmds []*cli.Command) bool {
	name, _, attached := cutFlag(a)
	if attached || slices.Contains([]string{"--help", "-h", "--version", "-V"}, name) {
		return false
	}
	for _, c := range cmds {
		if f, ok := FlagsOf(c)[name]; ok {
			return !IsBool(f)
		}
		if c != nil && takesValueSomewhere(a, c.Subcommands) {
			return true
		}
	}
	return false
}

// Find is the command of that name, or alias; nil: none.
func Find(cmds []*cli.Command, name string) *cli.Command {
	c, _ := xslices.Find(cmds, func(c *cli.Command) bool { return c.HasName(name) })
	return c
}

// Names are those of the commands that people may type, in their order.
func Names(cmds []*cli.Command) []string {
	return text.Each(shown(cmds), func(c *cli.Command) string { return c.Name })
}

// shown are the commands that people may type.
func shown(cmds []*cli.Command) []*cli.Command {
	return xslices.Filter(cmds, func(c *cli.Command) bool { return !c.Hidden })
}

// Given is what the flags of a call say in a T; those that the command does not have say nothing.
func Given[T any](c *cli.Context) (v T) {
	for _, f := range describe.Fields(&v) {
		switch field := f.Value.(type) {
		case *bool:
			*field = c.Bool(f.Name)
		case *string:
			*field = c.String(f.Name)
		case *[]string:
			*field = c.StringSlice(f.Name)
		}
	}
	return v
}
