package cmdline

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

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

// ProgramHelp is the help of the program, with its commands in groups.
func ProgramHelp(groups []Group, m Manual, look ui.Style) string {
	var b strings.Builder
	b.WriteString(look.Fill("envfix "+m.Command("envfix", nil).Usage) + "\nUSAGE\n  envfix COMMAND [FLAGS] [ARGUMENTS]\n")
	for _, g := range groups {
		b.WriteString("\n" + g.Title + "\n" + commandRows(g.Commands, look))
	}
	b.WriteString(look.Fit("\nFLAGS\n  --help, -h   the help of a command\n  --version    the version, and that of its data; -v: what the kernel keeps\n"))
	b.WriteString("\n" + look.Fit(m.of("envfix")+"\n"))
	return b.String()
}

// A Group is commands that something brings somebody to. Each lives in the file of
// its name.
type Group struct {
	Title    string
	Commands []*cli.Command
}

// CommandHelp is the help of the command at the end of path; its flags that are shared stand below
// their titles.
func CommandHelp(path []*cli.Command, m Manual, shared []Section, look ui.Style) string {
	c := path[len(path)-1]
	name := "envfix"
	for _, p := range path {
		name += " " + p.Name
	}
	var b strings.Builder
	b.WriteString(look.Fill(name + ": " + c.Usage))
	b.WriteString("\nUSAGE\n  " + name)
	b.WriteString(say.If(len(c.Flags) > 0, " [FLAGS]"))
	b.WriteString(say.With(" ", c.ArgsUsage, ""))
	b.WriteString("\n")
	if len(c.Subcommands) > 0 {
		b.WriteString("\nCOMMANDS\n" + commandRows(c.Subcommands, look))
	}
	for _, s := range FlagSections(c.Flags, shared) {
		b.WriteString("\n" + look.Fill(s.Title) + flagRows(s.Flags, look))
	}
	section := m.of(name)
	b.WriteString(say.If(section != "", "\n"+reflow(section, look)))
	if !strings.Contains(section, "EXIT STATUS") {
		b.WriteString("\nEXIT STATUS\n  0  done\n  1  it failed\n  2  usage, or input that cannot be read\n")
	}
	return b.String()
}

// reflow fills the paragraphs of a description. Headings, examples and tables
// (indented, or with columns) stay as they are.
func reflow(text string, look ui.Style) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		b.WriteString(say.If(b.Len() > 0, "\n"))
		if strings.Contains(paragraph, "  ") {
			b.WriteString(look.Fit(paragraph + "\n"))
			continue
		}
		b.WriteString(look.Fill(paragraph))
	}
	return b.String()
}

func commandRows(cmds []*cli.Command, look ui.Style) string {
	return look.Columns(text.Each(shown(cmds), func(c *cli.Command) [2]string { return [2]string{c.Name, c.Usage} }), 2)
}

// A Section is some flags below a title of their own.
type Section struct {
	Title string
	Flags []cli.Flag
}

// FlagSections parts a command's own flags from those that several commands
// share: what is wished for, and what describes a machine.
func FlagSections(flags []cli.Flag, shared []Section) []Section {
	parts := []Section{{Title: "FLAGS"}, {Title: shared[0].Title}, {Title: shared[1].Title}}
	for _, f := range flags {
		at := 1 + slices.IndexFunc(shared, func(s Section) bool { return named(s.Flags, f.Names()[0]) })
		parts[at].Flags = append(parts[at].Flags, f)
	}
	if len(parts[2].Flags) < 3 { // a command with its own few of them
		parts = []Section{{"FLAGS", flags}}
	}
	return slices.DeleteFunc(parts, func(s Section) bool { return len(s.Flags) == 0 })
}

func named(flags []cli.Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}

func flagRows(flags []cli.Flag, look ui.Style) string {
	var rows [][2]string
	for _, d := range shownFlags(flags) {
		value, usage := placeholder(d.GetUsage())
		text := strings.Join(text.Each(d.Names(), Dashed), ", ") + say.If(d.TakesValue(), " "+cmp.Or(value, "VALUE"))
		if v := strings.Trim(d.GetValue(), `"`); d.TakesValue() && v != "" && v != "[]" && v != "0" {
			usage += " (default " + v + ")"
		}
		rows = append(rows, [2]string{text, usage})
	}
	return look.Columns(rows, 2)
}

// placeholder takes the value's name, in backticks, out of a flag's usage text.
func placeholder(usage string) (name, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	name, after, closed := strings.Cut(rest, "`")
	if !ok || !closed {
		return "", usage
	}
	return name, before + name + after
}
