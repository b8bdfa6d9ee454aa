package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/observe"
	"envfix/internal/observe/verdict"
	"envfix/internal/place"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/xslices"

	"github.com/urfave/cli/v2"
)

// runFlags are the flags of run and watch, read once.
type runFlags struct {
	argv    []string
	noProbe bool
	try     string // the DataLoader's arguments, without blanks
	deep    bool
	dieToo  bool
	replay  string
	json    bool
	compare string  // a report of before; argv holds that of after
	price   float64 // of an hour of one GPU; 0: not given
	gates   []verdict.Gate
	files   []outputFile
}

// An outputFile is a file that run writes at the job's end; "" none.
type outputFile struct{ flag, path string }

func runFlagsOf(c *cli.Context) (f runFlags, err error) {
	f = runFlags{argv: c.Args().Slice(), noProbe: c.Bool("no-probe"), try: strings.ReplaceAll(c.String("try"), " ", ""), deep: c.Bool("deep"), dieToo: c.Bool("die-with-me"),
		replay: c.String("replay"), json: c.Bool("json"), compare: c.String("compare"), price: c.Float64("price")}
	f.files = text.Each([]string{"report", "save", "html"}, func(flag string) outputFile { return outputFile{flag, c.String(flag)} })
	for _, s := range c.StringSlice("fail-if") {
		g, err := verdict.ParseGate(s)
		if err != nil {
			return f, fail.Wrong("--fail-if: "+ui.Clean(err.Error()),
				"`--fail-if \"idle>30%\"`; `envfix run --help` lists the conditions")
		}
		f.gates = append(f.gates, g)
	}
	return f, f.check()
}

// check refuses what does not go together.
func (f runFlags) check() error {
	switch {
	case f.price < 0 || f.price > 1e6 || f.price != f.price:
		return fail.Wrong("--price is what one GPU costs an hour, such as 2.50")
	case f.compare != "" && len(f.argv) != 1:
		return fail.Wrong("--compare takes two reports", "`envfix run --compare before.json after.json`")
	case f.compare != "" && f.replay != "":
		return fail.Wrong("--compare and --replay are two questions: ask one")
	case f.replay != "" && len(f.argv) > 0:
		return fail.Wrong("--replay judges a recording and runs no command")
	case f.replay == "" && len(f.argv) == 0:
		return fail.Wrong("no command to run", "`envfix run -- python train.py`")
	case f.noProbe && (f.try != "" || f.deep):
		return fail.Wrong("--try and --deep need the probe, which --no-probe turns off")
	}
	return checkTry(f.try)
}

func runAction(c *cli.Context) error {
	f, err := runFlagsOf(c)
	switch {
	case err != nil:
		return err
	case f.compare != "":
		return compareRuns(f)
	case f.replay != "":
		return replay(f)
	}
	return runJob(f)
}

// besideJob makes this process small beside the one it watches: one thread of Go
// at a time, and a heap that is collected early. The user's own settings stand.
func besideJob() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}

// self is this program, for the child that reads the GPUs; "" where it is not
// known: then there is no GPU to see, and the trace says so.
func self() string {
	path, _ := os.Executable()
	return path
}

func runJob(f runFlags) error {
	besideJob()
	if w := place.Here().Bypassed(f.argv[0]); w != "" {
		fmt.Fprint(stderr(), ui.Hang("envfix: ", w))
	}
	t, ended, err := observe.Run(observe.Options{Command: f.argv, Env: os.Environ(), Self: self(), State: system.StateDir(),
		NoProbe: f.noProbe, Try: f.try, Deep: f.deep, DieToo: f.dieToo})
	name := ui.Clean(f.argv[0])
	switch {
	case errors.Is(err, observe.ErrNotFound):
		return fail.New(127, name+": command not found")
	case errors.Is(err, observe.ErrNotExecutable):
		return fail.New(126, name+": permission denied")
	case err != nil:
		return fail.New(126, name+": "+ui.Clean(err.Error()))
	}
	if t.AsksDoctor() {
		t.Doctor = diagnose(t, f.argv)
	}
	failed := conclude(f, t)
	if ended.Signal != 0 {
		observe.Die(ended.Signal)
	}
	if ended.Code != 0 {
		return &fail.Error{Code: ended.Code}
	}
	return failed
}

// conclude judges, prints and writes. What cannot be written is said; it does
// not change how the job ended.
func conclude(f runFlags, t *verdict.Trace) error {
	r := verdict.Judge(t)
	text := ui.Verdict(r, f.price, style(stderr()))
	var failed error
	for _, g := range f.gates {
		if bad, why := g.Fails(r); bad {
			text += "envfix: error: " + ui.Clean(why) + "\n"
			failed = &fail.Error{Code: fail.Failed}
		}
	}
	fmt.Fprint(stderr(), text)
	make := map[string]func() ([]byte, error){
		"report": func() ([]byte, error) {
			var b bytes.Buffer
			err := writeJSON(&b, r)
			return b.Bytes(), err
		},
		"save": func() ([]byte, error) { return observe.Encode(t) },
		"html": func() ([]byte, error) { return ui.VerdictPage(t, r) },
	}
	for _, file := range f.files {
		if file.path == "" {
			continue
		}
		data, err := make[file.flag]()
		if err == nil {
			err = system.Replace(file.path, data, 0o644) // a link of somebody else's in its place is not followed
		}
		if err != nil {
			fmt.Fprintf(stderr(), "envfix: warning: --%s: %s\n", file.flag, ui.Clean(err.Error()))
			failed = &fail.Error{Code: fail.Failed}
		}
	}
	return failed
}

// replay judges a recording.
func replay(f runFlags) error {
	t, err := observe.Load(f.replay)
	if err != nil {
		return fail.Wrong(ui.Clean(err.Error()), "`envfix run --save FILE -- …` writes a recording")
	}
	if f.json {
		if err := writeJSON(stdout(), verdict.Judge(t)); err != nil {
			return err
		}
	}
	return conclude(f, t)
}

// compareRuns says what changed between two runs.
func compareRuns(f runFlags) error {
	var runs [2]verdict.Report
	for i, file := range []string{f.compare, f.argv[0]} {
		r, err := observe.LoadReport(file)
		if err != nil {
			return fail.Wrong(ui.Clean(err.Error()), "`envfix run --report FILE -- …` writes a report")
		}
		runs[i] = r
	}
	c := verdict.Compare(runs[0], runs[1])
	return answer(stdout(), f.json, c, ui.Comparison(c, f.price), fail.OK)
}

// tryable are the DataLoader's arguments that can change in the middle of an
// epoch, or from one epoch to the next, without changing what the job computes.
var tryable = map[string]func(string) bool{
	"num_workers":        isCount,
	"prefetch_factor":    func(s string) bool { return isCount(s) && s != "0" },
	"pin_memory":         isTruth,
	"persistent_workers": func(s string) bool { return s == "True" },
}

func isTruth(s string) bool { return s == "True" || s == "False" }

func isCount(s string) bool {
	var n int
	_, err := fmt.Sscanf(s, "%d", &n)
	return err == nil && n >= 0 && n <= 256 && fmt.Sprint(n) == s
}

func checkTry(s string) error {
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(part, "=")
		ok, known := tryable[name]
		if !known || !ok(value) {
			return fail.Wrong(fmt.Sprintf("--try: %q cannot be tried", ui.Clean(part)),
				"`--try \"num_workers=4,persistent_workers=True,pin_memory=True,prefetch_factor=4\"`")
		}
	}
	return nil
}

// diagnosisLimit is how long a job that has ended may be kept for what doctor says.
const diagnosisLimit = 10 * time.Second

// diagnose is what doctor says first of this machine and of the Python that the job
// ran with, argv if this program started it; nil where it finds nothing that bars a GPU, or cannot look.
func diagnose(t *verdict.Trace, argv []string) *verdict.Diagnosis {
	ctx, cancel := context.WithTimeout(context.Background(), diagnosisLimit)
	defer cancel()
	env := jobEnv(t, argv)
	report, err := judged(ctx, place.Place{}, env)
	if err != nil || report.OK || len(report.Findings) == 0 {
		return nil
	}
	first := report.Findings[0]
	d := &verdict.Diagnosis{Check: first.Check, Text: first.Text, Fix: first.Fix}
	if env != "" {
		d.Command = text.Command("envfix", "doctor", "--env", env)
	}
	return d
}

// jobEnv is the environment that the job's Python belongs to: as the probe saw it,
// else that of the command itself; "" where none is known.
func jobEnv(t *verdict.Trace, argv []string) string {
	var dirs []string
	for _, p := range t.Processes {
		if p.Probe != nil && p.Probe.Prefix != "" {
			dirs = append(dirs, p.Probe.Prefix)
		}
	}
	for _, name := range argv[:min(len(argv), 1)] {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if program, err = filepath.Abs(program); err == nil {
			dirs = append(dirs, filepath.Dir(filepath.Dir(program)))
		}
	}
	env, _ := xslices.Find(dirs, place.IsEnv)
	return env
}
