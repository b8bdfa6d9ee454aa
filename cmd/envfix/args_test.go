package main

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/ui"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

func sampleCommands() []*cli.Command {
	nothing := func(*cli.Context) error { return nil }
	return []*cli.Command{
		{Name: "plan", Action: nothing, Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json"}, &cli.StringFlag{Name: "facts"}, &cli.StringFlag{Name: "cuda"}, &cli.StringFlag{Name: "os"},
			&cli.StringSliceFlag{Name: "gpu"}, &cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}}, &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}},
		}},
		{Name: "lock", Action: nothing, Flags: []cli.Flag{&cli.BoolFlag{Name: "check"}}, Subcommands: []*cli.Command{
			{Name: "show", Action: nothing, Flags: []cli.Flag{&cli.BoolFlag{Name: "json"}}},
			{Name: "target", Subcommands: []*cli.Command{{Name: "add", Action: nothing}}},
		}},
		{Name: "matrix", Subcommands: []*cli.Command{{Name: "show", Action: nothing}}},
		{Name: "run", Action: nothing, Flags: []cli.Flag{&cli.StringFlag{Name: "report"}}},
		{Name: "__nvml", Hidden: true, Action: nothing},
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args string
		want string // argv, or the error and its hints
		help bool
	}{
		{args: "plan torch --json", want: "envfix plan --json -- torch"},
		{args: "plan torch==2.9.1 --facts f.json torchvision --json", want: "envfix plan --facts=f.json --json -- torch==2.9.1 torchvision"},
		{args: "plan --facts=f.json", want: "envfix plan --facts=f.json"},
		{args: "plan --facts -", want: "envfix plan --facts=-"},
		{args: "plan -", want: "envfix plan -- -"},
		{args: "--json plan torch", want: "envfix plan --json -- torch"},
		{args: "--cuda 12.6 plan torch", want: "envfix plan --cuda=12.6 -- torch"},
		{args: "plan --gpu A,B --gpu C", want: "envfix plan --gpu=A,B --gpu=C"},
		{args: "plan -r req.txt -rmore.txt -y", want: "envfix plan -r=req.txt -r=more.txt -y"},
		{args: "plan -- --json", want: "envfix plan -- --json"},
		{args: "plan -v torch --verbose", want: "envfix plan -- torch"},
		{args: "plan --json=false", want: "envfix plan --json=false"},
		{args: "lock --check", want: "envfix lock --check"},
		{args: "lock show --json", want: "envfix lock show --json"},
		{args: "lock torch", want: "envfix lock -- torch"},
		{args: "run --report r.json python train.py --lr 3 --report x", want: "envfix run --report=r.json -- python train.py --lr 3 --report x"},
		{args: "run -- python --version", want: "envfix run -- python --version"},
		{args: "plan --help", want: "envfix plan", help: true},
		{args: "help plan", want: "envfix plan", help: true},
		{args: "plan torch -h", want: "envfix plan -- torch", help: true},
		{args: "matrix", want: "envfix matrix"},
		{args: "", want: "envfix"},

		{args: "pln", want: "unknown command `pln`; did you mean `plan`?; `envfix --help` lists the commands"},
		{args: "instal", want: "unknown command `instal`; `envfix apply` does what `install` does elsewhere; `envfix --help` lists the commands"},
		{args: "_nvml", want: "unknown command `_nvml`; `envfix --help` lists the commands"},
		{args: "matrix sho", want: "unknown `envfix matrix` command `sho`; did you mean `show`?; `envfix matrix --help` lists the commands"},
		{args: "lock target list", want: "unknown `envfix lock target` command `list`; `envfix lock target --help` lists the commands"},
		{args: "plan --foo", want: "unknown flag `--foo`; `envfix plan --help` lists its flags"},
		{args: "plan --gup x", want: "unknown flag `--gup`; did you mean `--gpu`?; `envfix plan --help` lists its flags"},
		{args: "plan --jsn", want: "unknown flag `--jsn`; did you mean `--json`?; `envfix plan --help` lists its flags"},
		{args: "plan --cudaa=12", want: "unknown flag `--cudaa`; did you mean `--cuda`?; `envfix plan --help` lists its flags"},
		{args: "plan --bogus", want: "unknown flag `--bogus`; `envfix plan --help` lists its flags"},
		{args: "plan -json", want: "unknown flag `-json`; did you mean `--json`?; `envfix plan --help` lists its flags"},
		{args: "plan torch --cuda", want: "flag `--cuda` needs a value; `envfix plan --help` lists its flags"},
		{args: "plan --cuda -- torch", want: "flag `--cuda` needs a value; `envfix plan --help` lists its flags"},
		{args: "lock show --check", want: "unknown flag `--check`; it is a flag of `envfix lock`; `envfix lock show --help` lists its flags"},
		{args: "--nothing", want: "unknown flag `--nothing`; `envfix --help` lists the commands"},
	} {
		t.Run(test.args, func(t *testing.T) {
			in, err := cmdline.Parse(append([]string{"envfix"}, strings.Fields(test.args)...), sampleCommands())
			got := strings.Join(in.Argv, " ")
			var f *fail.Error
			if errors.As(err, &f) {
				got = strings.Join(append([]string{f.Text}, f.Hints...), "; ")
				if f.Code != fail.Usage {
					t.Errorf("exit code %d, want %d", f.Code, fail.Usage)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if in.Help != test.help {
				t.Errorf("help is %v, want %v", in.Help, test.help)
			}
		})
	}
}

// What is said of the words of other programs names flags and commands that are there.
func TestElsewhere(t *testing.T) {
	b, err := os.ReadFile("../../internal/cmdline/elsewhere.txt")
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{"--version": true}
	if err := visible(commands(), "", func(_ string, c *cli.Command) error { maps.Copy(flags, names(cmdline.FlagsOf(c))); return nil }); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		words, says, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(says) == "" {
			t.Errorf("says nothing: %s", line)
		}
		for _, w := range regexp.MustCompile(`--[a-z-]+`).FindAllString(says, -1) {
			if !flags[w] {
				t.Errorf("%s: there is no %s", words, w)
			}
		}
		for _, m := range regexp.MustCompile("`envfix ([a-z]+)").FindAllStringSubmatch(says, -1) {
			if cmdline.Find(commands(), m[1]) == nil {
				t.Errorf("%s: there is no command %s", words, m[1])
			}
		}
	}
}

func names(flags map[string]cli.Flag) map[string]bool {
	out := map[string]bool{}
	for name := range flags {
		out[name] = true
	}
	return out
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

// Every flag of every command keeps its meaning wherever it stands.
func TestFlagsMayStandAnywhere(t *testing.T) {
	err := visible(commands(), "", func(words string, c *cli.Command) error {
		if c.Action == nil || slices.Contains(cmdline.RunsAnother, c.Name) {
			return nil
		}
		for _, f := range c.Flags {
			for _, n := range f.Names() {
				args := []string{cmdline.Dashed(n)}
				if !cmdline.IsBool(f) {
					args = append(args, "1")
				}
				before, err1 := cmdline.Parse(append(append([]string{"envfix"}, strings.Fields(words)...), append(args, "operand")...), commands())
				after, err2 := cmdline.Parse(append(append([]string{"envfix"}, strings.Fields(words)...), append([]string{"operand"}, args...)...), commands())
				if err1 != nil || err2 != nil {
					t.Errorf("%s %s: %v, %v", words, cmdline.Dashed(n), err1, err2)
				}
				if diff := cmp.Diff(before.Argv, after.Argv); diff != "" {
					t.Errorf("%s %s: %s", words, cmdline.Dashed(n), diff)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every help text fits a terminal (but for commands to paste), and says by example
// how a command is used and with which status it ends.
func TestHelp(t *testing.T) {
	texts := map[string]string{"envfix": cmdline.ProgramHelp(commandGroups(), manual(), ui.Style{})}
	var walk func(path []*cli.Command, cmds []*cli.Command)
	walk = func(path []*cli.Command, cmds []*cli.Command) {
		for _, c := range cmds {
			if c.Hidden {
				continue
			}
			here := append(path[:len(path):len(path)], c)
			var words []string
			for _, p := range here {
				words = append(words, p.Name)
			}
			texts["envfix "+strings.Join(words, " ")] = cmdline.CommandHelp(here, manual(), sharedFlags(), ui.Style{})
			walk(here, c.Subcommands)
		}
	}
	walk(nil, commands())
	for _, width := range []int{40, 50, 64} {
		look := ui.Style{Width: width}
		for line := range strings.Lines(cmdline.ProgramHelp(commandGroups(), manual(), look) + cmdline.CommandHelp([]*cli.Command{planCommand()}, manual(), sharedFlags(), look) + cmdline.CommandHelp([]*cli.Command{doctorCommand()}, manual(), sharedFlags(), look)) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width && strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(line, "  ") {
				t.Errorf("%d columns on a terminal of %d: %s", n, width, line)
			}
		}
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			pasted := strings.HasPrefix(line, "  ") && strings.Contains(line, "envfix ")
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !pasted {
				t.Errorf("%s --help: a line of %d columns: %s", name, n, line)
			}
		}
		for _, section := range []string{"EXAMPLES\n", "EXIT STATUS\n"} {
			if !strings.Contains(text, section) {
				t.Errorf("%s --help has no section %s", name, strings.TrimSpace(section))
			}
		}
	}
}

// Errors are JSON where envfix was asked for JSON, not where the job that it runs is.
func TestWantsJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"plan torch --json":               true,
		"plan --json=true":                true,
		"plan -- --json":                  false,
		"plan torch":                      false,
		"plan --bogus --json":             true,
		"bogus --json":                    true,
		"--json bogus":                    true,
		"lock target bogus --json":        true,
		"plan --torch= --out --json":      false,
		"run --replay job.efx --json":     true,
		"run -- python t.py --json":       false,
		"run python t.py --json":          false,
		"run --report r.json t.py --json": false,
	} {
		in, _ := cmdline.Parse(append([]string{"envfix"}, strings.Fields(args)...), commands())
		if in.JSON != want {
			t.Errorf("%s: JSON %v, want %v", args, in.JSON, want)
		}
	}
}

// A name that would begin a line of its own in a script or a log is none of an environment.
func TestEnvironmentsName(t *testing.T) {
	code, said := lockSays(t, t.TempDir(), "plan", "--sh", "--cpu", "--env", "a\n::error::x")
	if code != fail.Usage || strings.Contains(said, "\n::error::") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// Every command that people may type has its section in the manual, and none is of another.
func TestManual(t *testing.T) {
	want := []string{"envfix"}
	var walk func(before string, cmds []*cli.Command)
	walk = func(before string, cmds []*cli.Command) {
		for _, c := range cmds {
			if !c.Hidden {
				want = append(want, before+" "+c.Name)
				walk(before+" "+c.Name, c.Subcommands)
			}
		}
	}
	walk("envfix", commands())
	var have []string
	for line := range strings.Lines(manualText) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, " ===\n"), "=== "); ok && len(sharing(name)) > 0 && !strings.HasPrefix(name, "envfix") {
			continue // what several share
		} else if ok {
			have = append(have, name)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("sections of manual.txt: %q\ncommands: %q", have, want)
	}
	form := regexp.MustCompile(`^--[a-z][a-z0-9-]*( -[a-z])?( (text(=\S+)?|list|int(=-?\d+)?|float|duration=\S+))?: .|^(--[a-z0-9-]+ )+as of (\S.*)$|^as of \S.*$`)
	for name, section := range manual() {
		head, _, _ := strings.Cut(section, "\n\n")
		for line := range strings.SplitSeq(head, "\n") {
			m := form.FindStringSubmatch(line)
			if (strings.HasPrefix(line, "--") || strings.HasPrefix(line, "as of ")) && m == nil {
				t.Errorf("%s: no declaration of a flag: %s", name, line)
			}
			if of, all := strings.CutPrefix(line, "as of "); all && len(sharing(of)) == 0 {
				t.Errorf("%s: no flags: %s", name, line)
			}
			if m != nil && m[7] != "" {
				names := strings.Fields(strings.TrimSuffix(strings.ReplaceAll(line, "--", ""), " as of "+m[7]))
				if got := manual().Flags(m[7], names...); len(got) != len(names) {
					t.Errorf("%s: %d flags: %s", name, len(got), line)
				}
			}
		}
	}
}
