package cmdline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A Manual is a section for each command, by its name: what declares the command, an empty
// line, and what --help says below the flags. One may end with the exit codes of another command.
type Manual map[string]string

// ReadManual reads sections that begin with "=== name ===", with the first of each word in braces
// replaced by what follows it in slots.
func ReadManual(all string, slots ...string) Manual {
	m := Manual{}
	for slot := range slices.Chunk(slots, 2) {
		all = strings.Replace(all, slot[0], slot[1], 1)
	}
	for section := range strings.SplitSeq(all, "\n=== ") {
		name, rest, _ := strings.Cut(section, " ===\n")
		m[name] = rest
	}
	return m
}

// of is what the help says of a command; "" nothing.
func (m Manual) of(name string) string {
	_, section, _ := strings.Cut(m[name], "\n\n")
	section, other, same := strings.Cut(strings.TrimSpace(section), "EXIT STATUS as of ")
	if same {
		_, codes, _ := strings.Cut(m.of(other), "EXIT STATUS")
		return section + "EXIT STATUS" + codes
	}
	return section
}

// Command is a command as its section declares it.
func (m Manual) Command(name string, action cli.ActionFunc) *cli.Command {
	head, _, _ := strings.Cut(m[name], "\n\n")
	usage, rest, _ := strings.Cut(head, "\n")
	c := &cli.Command{Name: name[strings.LastIndexByte(name, ' ')+1:], Usage: usage, Action: action, Flags: m.Flags(name)}
	if takes, ok := strings.CutPrefix(rest, "arguments: "); ok {
		c.ArgsUsage, _, _ = strings.Cut(takes, "\n")
	}
	return c
}

// Flags are those of a section that have these names, in their order; without a name all.
func (m Manual) Flags(section string, names ...string) (out []cli.Flag) {
	head, _, _ := strings.Cut(m[section], "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		words, usage, said := strings.Cut(line, ": ")
		name, dashed := strings.CutPrefix(words, "--")
		name, _, _ = strings.Cut(name, " ")
		switch {
		case strings.HasPrefix(line, "as of "):
			out = append(out, m.Flags(line[len("as of "):], names...)...)
		case dashed && said && (len(names) == 0 || slices.Contains(names, name)):
			out = append(out, declared(strings.Fields(words), usage))
		case dashed && !said:
			shared, of, _ := strings.Cut(strings.ReplaceAll(words, "--", ""), " as of ")
			if more := slices.DeleteFunc(strings.Fields(shared), func(n string) bool { return len(names) > 0 && !slices.Contains(names, n) }); len(more) > 0 {
				out = append(out, m.Flags(of, more...)...)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b cli.Flag) int { return slices.Index(names, a.Names()[0]) - slices.Index(names, b.Names()[0]) })
	return out
}

// declared is the flag of the words "--name -n kind=value".
func declared(words []string, usage string) cli.Flag {
	kind, value := "", ""
	if last := words[len(words)-1]; !strings.HasPrefix(last, "-") {
		kind, value, _ = strings.Cut(last, "=")
		words = words[:len(words)-1]
	}
	name, aliases := strings.TrimLeft(words[0], "-"), []string(nil)
	for _, w := range words[1:] {
		aliases = append(aliases, strings.TrimLeft(w, "-"))
	}
	switch kind {
	case "text":
		return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage, Value: value}
	case "list":
		return &cli.StringSliceFlag{Name: name, Aliases: aliases, Usage: usage}
	case "int":
		n, _ := strconv.Atoi(value) // a test reads each
		return &cli.IntFlag{Name: name, Aliases: aliases, Usage: usage, Value: n}
	case "float":
		return &cli.Float64Flag{Name: name, Aliases: aliases, Usage: usage}
	case "duration":
		d, _ := time.ParseDuration(value)
		return &cli.DurationFlag{Name: name, Aliases: aliases, Usage: usage, Value: d}
	}
	return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage}
}
