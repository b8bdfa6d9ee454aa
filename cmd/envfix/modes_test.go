package main

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/describe"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// Who carries out does all that apply does: doctor --fix and lock sync, too.
func TestModes(t *testing.T) {
	for line, want := range map[string]mode{
		"plan": shows, "why": shows, "apply": carriesOut, "doctor": examines, "doctor --fix": carriesOut, "sync": carriesOut,
	} {
		words := strings.Fields(line)
		got := mode(-1)
		read := func(c *cli.Context) error {
			switch words[0] {
			case "doctor":
				f, err := doctorOf(c)
				got = f.plan.machine.mode
				return err
			case "apply", "sync":
				f, err := applyOf(c)
				got = f.made.machine.mode
				return err
			}
			f, err := planOf(c, shows)
			got = f.machine.mode
			return err
		}
		command := map[string]*cli.Command{"plan": planCommand(), "why": whyCommand(), "apply": applyCommand(), "doctor": doctorCommand(), "sync": lockSyncCommand("sync")}[words[0]]
		command.Action = read
		app := &cli.App{Commands: []*cli.Command{command}}
		if err := app.Run(append([]string{"envfix"}, words...)); err != nil || got != want {
			t.Errorf("%s: mode %d, %v; want %d", line, got, err, want)
		}
	}
}

// Every flag of plan stands in a table that the next command is made from, or is named
// here with why it does not come back.
func TestPlanFlagsComeBack(t *testing.T) {
	aside := []string{
		"json", "sh", "ps1", "out", "exit-code", "open", "verbose", // how the plan is shown
		"facts", "requirements", "env", // read into the machine, the requirements and the place, which come back as such
		"profile", "group", "no-lock", "bundle", "kernel", "check-packages", "quick", // of a lock, of Jupyter, of how sure the answer is
	}
	p := &plan.Plan{}
	p.Basis.Facts.Platform.OS, p.Target.Dir = "linux", place.Default
	rest := func(flag string, set func()) {
		set()
		if got := restOf(p); !strings.Contains(got, "--"+flag) {
			t.Errorf("--%s does not come back: %s", flag, got)
		}
	}
	tables := []string{}
	for _, f := range describe.Fields(&describe.Machine{}) {
		tables = append(tables, f.Name) // there the machine is what it is
	}
	for _, f := range describe.Fields(&p.Target) {
		tables = append(tables, f.Name)
		rest(f.Name, func() {
			switch field := f.Value.(type) {
			case *bool:
				*field = true
			case *string:
				*field = "x"
			case *[]string:
				*field = []string{"x"}
			}
		})
	}
	for _, f := range describe.Fields(&describe.Request{}) {
		tables = append(tables, f.Name)
	}
	p.Basis.Request = resolver.Request{Python: "3.12", CUDA: "12", Build: "cu126", Manager: "uv", OnlyIndex: "default", Channel: "test", GPUs: []int{0},
		AllowURL: []string{"x"}, AsNamed: []string{"x"}, Relax: []string{"x"}, CPU: true, JIT: true, ChangeDriver: true}
	for _, f := range describe.Fields(&describe.Request{}) {
		rest(f.Name, func() {})
	}
	for _, f := range planCommand().Flags {
		if name := f.Names()[0]; !slices.Contains(tables, name) && !slices.Contains(aside, name) {
			t.Errorf("--%s of plan is in no table", name)
		}
	}
}
