package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/cmdline"
	"envfix/internal/fail"

	"github.com/urfave/cli/v2"
)

// Every command stands in one group of the help, and no line of any help text is
// wider than a terminal of 80 columns.
func TestHelpTexts(t *testing.T) {
	var grouped []string
	for _, g := range commandGroups() {
		grouped = append(grouped, cmdline.Names(g.Commands)...)
	}
	for _, c := range commands() {
		if n := len(slices.DeleteFunc(slices.Clone(grouped), func(g string) bool { return g != c.Name })); !c.Hidden && n != 1 {
			t.Errorf("%s is in %d groups of the help", c.Name, n)
		}
	}
	program := narrow(t, nil)
	for code := range fail.Unknown + 1 {
		if !regexp.MustCompile(fmt.Sprintf(`[ \n]%d [a-z]`, code)).MatchString(program) {
			t.Errorf("the program's help has no exit code %d", code)
		}
	}
	each(commands(), nil, func(path []*cli.Command) {
		text := narrow(t, path)
		if c := path[len(path)-1]; len(c.Subcommands) == 0 && !strings.Contains(text, "EXAMPLES\n") {
			t.Errorf("%s: no examples", c.Name)
		}
	})
}

// each visits the visible commands below path.
func each(cmds, path []*cli.Command, visit func([]*cli.Command)) {
	for _, c := range cmds {
		if !c.Hidden {
			here := append(slices.Clone(path), c)
			visit(here)
			each(c.Subcommands, here, visit)
		}
	}
}

func narrow(t *testing.T, path []*cli.Command) string {
	t.Helper()
	var b strings.Builder
	if err := showHelp(&b, path); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	return b.String()
}

// The shared flags stand below titles of their own, and none is lost.
func TestHelpFlagSections(t *testing.T) {
	for _, c := range commands() {
		var titles []string
		n := 0
		for _, s := range cmdline.FlagSections(c.Flags, sharedFlags()) {
			titles, n = append(titles, s.Title), n+len(s.Flags)
		}
		if n != len(c.Flags) {
			t.Errorf("%s: %d of %d flags", c.Name, n, len(c.Flags))
		}
		shared := slices.Contains([]string{"plan", "apply", "sync", "why", "doctor", "lock", "env"}, c.Name)
		if got := len(titles) == 3; got != shared {
			t.Errorf("%s: %q", c.Name, titles)
		}
	}
}

// The dry run takes the flags of what it is the dry run of, and a lock those of a plan,
// but for those that mean nothing there.
func TestFlagsAlike(t *testing.T) {
	flags := func(name string) []string {
		var out []string
		for k := range cmdline.FlagsOf(cmdline.Find(commands(), name)) {
			if strings.HasPrefix(k, "--") {
				out = append(out, k)
			}
		}
		return out
	}
	for _, tt := range []struct{ has, lacks, but string }{
		// how a plan is carried out
		{"apply", "plan", "--yes --made-elsewhere --resume --abandon --retries --stall --allow-build --dry-run"},
		// how it is shown
		{"plan", "apply", "--sh --ps1 --out --exit-code --open"},
		// what is asked of a machine or an environment, and not of a lock; one that chooses
		// how it is installed, a file that is not of an index, and what a project's file pins
		{"plan", "lock", "--sh --ps1 --out --exit-code --open --verbose --kernel --no-lock --bundle --manager --in-place --quick --check-packages --change-driver --jit --allow-url --gpus --drop --fresh --fresh-wish --from-index --no-install-project --as-of --closure --relax --edit --with-pip"},
	} {
		has, except := flags(tt.lacks), strings.Fields(tt.but)
		for _, f := range flags(tt.has) {
			if slices.Contains(has, f) == slices.Contains(except, f) {
				t.Errorf("%s: %s has it; %s: %v; among the exceptions: %v", f, tt.has, tt.lacks, slices.Contains(has, f), slices.Contains(except, f))
			}
		}
	}
}
