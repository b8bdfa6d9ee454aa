package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"envfix/internal/apply"
	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/ui"
	"envfix/internal/xslices"

	"github.com/urfave/cli/v2"
)

// The flags that several commands share. An Action reads them once, with the
// functions below, into a struct of this file; what it calls sees the struct and
// never the library's context.

// A mode says what becomes of an answer.
type mode int

// The modes.
const (
	shows      mode = iota // it is shown, for this machine or one that is described
	examines               // this machine is judged as it is, whatever flags say of it
	carriesOut             // it is carried out here, with the programs that are here
)

// machineFlags say which machine a command is about.
type machineFlags struct {
	mode
	facts string           // a file of facts; "" this machine
	words describe.Machine // facts to put in place of those found
	made  bool             // words are those that the environment was made for
	fresh bool             // those do not count
	env   string           // the environment that this machine is read for
	use   bool             // see who uses its GPUs, too
	whole bool             // read installed files whole
	begun *probe.Look      // of this machine; nil: not yet
}

// elsewhere reports whether the machine is another one, at least its system.
func (f machineFlags) elsewhere() bool {
	return f.facts != "" || f.words.OS != "" || f.words.Arch != ""
}

// here reports whether the programs that are here are those of the machine.
func (f machineFlags) here() bool {
	return f.facts == "" && (!f.elsewhere() || f.mode == carriesOut)
}

func machineOf(c *cli.Context, m mode) (machineFlags, error) {
	f := machineFlags{mode: m, facts: c.String("facts"), env: placeOf(c).ForPlan().Dir, words: cmdline.Given[describe.Machine](c)}
	f.words.Whole = c.IsSet("facts")
	for _, name := range []string{"facts", "driver", "os", "arch", "libc"} {
		if c.IsSet(name) && c.String(name) == "" {
			return f, fail.Wrong(fmt.Sprintf("flag `--%s` needs a value", name))
		}
	}
	return f, nil
}

// placeFlags say where packages go, and how they come there.
type placeFlags struct {
	plan.Target // as flags say it
	place       place.Place
	env         string // the directory of what a plan is for
	quick       bool   // a project's packages are not resolved first
	check       bool   // they are, where torch alone is asked for as well
}

// planFlags are all that a plan is made from.
type planFlags struct {
	machine machineFlags
	wish    project.Wish
	target  placeFlags
	lock    followFlags
	kernel  string // the name for Jupyter; "" it is told nothing
}

func planOf(c *cli.Context, as mode) (planFlags, error) {
	m, err := machineOf(c, as)
	if err == nil && as != carriesOut && firstSet(c, "out", "open", "html", "import", "pid", "all") == "" { // it will write, or see as more
		m.looks(c.Context)
	}
	wish := project.Wish{Request: cmdline.Given[describe.Request](c), Arguments: c.Args().Slice(), Files: c.StringSlice("requirements")}
	p := placeOf(c)
	to := placeFlags{Target: cmdline.Given[plan.Target](c), place: p, env: p.ForPlan().Dir,
		quick: c.Bool("quick"), check: c.Bool("check-packages")}
	m.fresh = to.FreshWish
	f := planFlags{machine: m, wish: wish, target: to, lock: followOf(c), kernel: c.String("kernel")}
	if err := errors.Join(err, apply.CheckKernel(f.kernel)); err != nil {
		return f, err
	}
	if strings.ContainsFunc(f.target.env, unicode.IsControl) { // a script that is shown would be cut by it
		return f, fail.Wrong("the name of the environment holds a control character: "+ui.Clean(f.target.env), "`--env DIR` names another")
	}
	if f.machine.elsewhere() && !f.target.place.Named && as != carriesOut { // what is active here is not active there
		f.target.place = place.Place{Dir: place.Default}
		f.target.env, f.machine.env = place.Default, place.Default
	}
	if err := f.repository(c.Context, as); err != nil {
		return f, err
	}
	if err := f.project(c.IsSet("env")); err != nil {
		return f, err
	}
	if as != carriesOut && !m.described() && firstSet(c, "from", "pid", "all") == "" {
		sayUnfinished(f.target.env)
	}
	f.wish.Local(&f.target.Target, f.machine.elsewhere())
	return f, f.wish.Environment()
}

// sayUnfinished names what was begun on an environment and has not ended, and the way out.
func sayUnfinished(env string) {
	_ = apply.Opened(env, func(e *apply.Env) error { // what cannot be read is told where it is needed
		h, err := e.History()
		way := map[string]string{"cut off": "`envfix apply --resume` goes on with it, `--abandon` gives it up", "running": "another envfix works on it now"}
		if n := len(h.Events) - 1; err == nil && n >= 0 && way[h.Events[n].State] != "" {
			last := h.Events[n]
			fmt.Fprintf(stderr(), "envfix: an apply (%s) began at %s and has not ended: %s\n", ui.Clean(last.Note), ui.Clean(last.Time), way[last.State])
		}
		return err
	})
}

// firstSet is the first of the names that is given as a flag, "" where none is.
func firstSet(c *cli.Context, names ...string) string {
	first, _ := xslices.Find(names, c.IsSet)
	return first
}

// placeOf is the environment of a command with the flag --env.
func placeOf(c *cli.Context) place.Place {
	return say.Either(c.IsSet("env"), place.Named(c.String("env")), place.Here())
}
