package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/examine"
	"envfix/internal/fail"
	"envfix/internal/planning"
	"envfix/internal/probe"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/internal/xslices"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func doctorCommand() *cli.Command {
	return declared("doctor", doctorAction)
}

// doctorFlags are those of `envfix doctor`.
type doctorFlags struct {
	from        []string // files of pasted text; none: this machine
	json        bool
	imports     bool // start the environment's Python
	html        string
	markdown    bool
	sarif       bool
	names       bool // home paths and names stay in the page and the Markdown
	pid         int  // of the process to look at; 0: none
	all         bool // every environment of this machine
	fix         bool
	editProfile bool
	verbose     bool
	whole       bool       // a few packages do not do: the environment is built anew
	plan        planFlags  // of the plan that mends
	apply       applyFlags // how it is carried out
	out         io.Writer
}

// look is how its text looks on w.
func (f doctorFlags) look(w io.Writer) ui.Style {
	look := style(w)
	look.Verbose = f.verbose
	return look
}

func doctorOf(c *cli.Context) (f doctorFlags, err error) {
	if err = agreeing(c); err != nil {
		return f, err
	}
	f = doctorFlags{
		from: c.StringSlice("from"), json: c.Bool("json"), imports: c.Bool("import"), html: c.String("html"), fix: c.Bool("fix"),
		editProfile: c.Bool("edit-profile"), verbose: c.Bool("verbose"), out: c.App.Writer,
		markdown: c.Bool("markdown"), sarif: c.Bool("sarif"), names: c.Bool("with-names"), all: c.Bool("all"),
	}
	if c.IsSet("pid") {
		if f.pid, err = examine.PID(c.String("pid")); err != nil {
			return f, err
		}
	}
	as := say.Either(f.fix, carriesOut, examines)
	if f.plan, err = planOf(c, as); err != nil || !f.fix {
		return f, err
	}
	f.apply, err = applyOf(c)
	return f, err
}

func doctorAction(c *cli.Context) error {
	f, err := doctorOf(c)
	if err != nil {
		return err
	}
	if f.fix {
		if did, err := asInvoker(); did {
			return err
		}
	}
	return f.examine(c.Context)
}

// examine says what is wrong, and with --fix mends it.
func (f doctorFlags) examine(ctx context.Context) error {
	if f.all {
		return f.everywhere(ctx)
	}
	patient, err := f.patient(ctx)
	if err != nil {
		return err
	}
	if f.imports {
		if err := examine.Import(ctx, patient, probeLimit()); err != nil {
			return err
		}
	}
	report := f.examined(ctx, patient)
	if !patient.Pasted && f.plan.machine.facts == "" {
		report.Notes = append(report.Notes, lockDrift(patient.Machine, f.plan.machine.env)...)
		f.unlocked(ctx, report.Findings)
	}
	if f.html != "" {
		if err := f.writePage(ctx, report, patient); err != nil {
			return err
		}
	}
	if f.fix {
		return f.mend(ctx, report, patient)
	}
	if f.json && !patient.Pasted && !report.OK {
		// The steps are the plan's; a machine that no plan can be made for has none.
		_, _ = f.withSteps(ctx, &report, patient)
	}
	if err := f.tell(report, patient); err != nil || report.OK {
		return err
	}
	return &fail.Error{Code: say.Either(report.Verdict == doctor.Unknown, fail.Unknown, fail.Failed)}
}

// unlocked has the way out of a lock that has nothing for this machine, or of a file in the
// environment's place, in place of an apply that would refuse.
func (f doctorFlags) unlocked(ctx context.Context, found []doctor.Finding) {
	i := slices.IndexFunc(found, func(x doctor.Finding) bool { return x.Check == "PY002" })
	if way := f.plan.target.place.Obstacle; i >= 0 && way != "" {
		found[i].Fix = []string{way}
	}
	if i < 0 || governing() == "" {
		return
	}
	q, _, err := f.plan.question(ctx)
	if err == nil {
		_, err = f.plan.lockedPlan(q)
	}
	if err != nil {
		found[i].Text, found[i].Fix = found[i].Text+", and "+fail.Of(err).Text, fail.Of(err).Hints
	}
}

// tell writes a report in the form that was asked for.
func (f doctorFlags) tell(report doctor.Report, patient *read.Case) (err error) {
	switch {
	case f.json:
		err = writeJSON(f.out, report)
	case f.sarif:
		err = f.writeSarif(report)
	case f.markdown:
		_, err = io.WriteString(f.out, f.markdownText(report, patient))
	default:
		_, err = io.WriteString(f.out, f.where(patient)+ui.Doctor(report, patient, f.look(f.out))+f.fixes(report, patient))
	}
	return err
}

// agreeing refuses flags of doctor that contradict each other.
func agreeing(c *cli.Context) error {
	if c.NArg() > 0 {
		return fail.Wrong("unexpected argument "+ui.Clip(c.Args().First(), 60),
			"`envfix doctor --from FILE` reads a file")
	}
	if err := otherSubject(c); err != nil {
		return err
	}
	if c.Bool("fix") && (c.IsSet("from") || c.IsSet("facts") || c.IsSet("os") || c.IsSet("arch")) {
		return fail.Wrong("`--fix` mends this machine; a paste or a description is of another",
			"`envfix doctor --from FILE` says what to do there")
	}
	if c.Bool("edit-profile") && !c.Bool("fix") {
		return fail.Wrong("`--edit-profile` says what `--fix` may edit", "`envfix doctor --fix --edit-profile`")
	}
	if c.Bool("import") && (c.IsSet("from") || c.IsSet("facts")) {
		return fail.Wrong("`--import` starts this machine's Python; a paste or a file of facts is of another",
			"`envfix doctor --import` looks at this machine")
	}
	return nil
}

// apart are flags of which one excludes the others: two answers to what is to be looked
// at, or in which form.
var apart = [][]string{
	{"pid", "all", "from"}, {"pid", "all", "facts"}, {"pid", "all", "fix"}, {"pid", "all", "import"}, {"pid", "all", "env"},
	{"pid", "all", "os"}, {"json", "markdown"}, {"markdown", "all"}, {"markdown", "fix"}, {"html", "all"},
	{"sarif", "json"}, {"sarif", "markdown"}, {"sarif", "all"}, {"sarif", "fix"},
}

// otherSubject refuses flags that exclude each other.
func otherSubject(c *cli.Context) error {
	for _, names := range apart {
		if set := xslices.Filter(names, c.IsSet); len(set) > 1 {
			return fail.Wrong("`--"+strings.Join(set, "` and `--")+"` do not go together", "ask for one of them, then for the other")
		}
	}
	return nil
}

// readPastes reads the files of --from into one case.
func readPastes(names []string) (*read.Case, error) {
	r := read.NewReader(know.Embedded())
	for _, name := range names {
		label := say.Either(len(names) == 1, "", ui.Clean(name))
		if err := readPaste(r, name, label); err != nil {
			return nil, fail.Because(err, fail.Usage, ui.Clean(name)+": "+fail.Reason(err), "`envfix doctor --from -` reads standard input")
		}
	}
	return r.Case(), nil
}

func readPaste(r *read.Reader, name, label string) error {
	if name == "-" {
		return r.Read(label, os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.Read(label, f)
}

// patient is what the report is about: pasted text, or a machine as probe sees
// it, and the data to judge it by.
func (f doctorFlags) patient(ctx context.Context) (patient *read.Case, err error) {
	switch {
	case len(f.from) > 0:
		patient, err = readPastes(f.from)
	case f.pid > 0:
		patient, err = examine.Process(ctx, probeOptions(""), f.pid)
	default:
		f.plan.machine.whole = f.imports
		patient, err = f.plan.machine.patient(ctx)
	}
	if err != nil {
		return nil, err
	}
	return patient, f.judged(patient)
}

// report is what is found of the patient.
func (f doctorFlags) report(ctx context.Context) (doctor.Report, *read.Case, error) {
	patient, err := f.patient(ctx)
	if err != nil {
		return doctor.Report{}, nil, err
	}
	return f.examined(ctx, patient), patient, nil
}

// judged adds to a case what it is judged by: the data, and what holds here.
func (f doctorFlags) judged(patient *read.Case) (err error) {
	patient.Matrix, patient.Devices = matrixFor(), matrix.Devices()
	described := patient.Pasted || f.plan.machine.described()
	if patient.Standing, err = f.plan.wish.AsRequest(described, today(), policyHere); err != nil {
		return err
	}
	patient.Standing = planning.Wished(f.plan.remembered(described), patient.Standing)
	if f.plan.machine.made {
		patient.Notes = append(patient.Notes, "judged "+f.plan.machine.words.Instead()+": "+f.plan.target.env+" was made for it")
	}
	patient.WithoutGPU = !described && madeWithoutGPU(f.plan.target.env)
	return nil
}

func (f *machineFlags) patient(ctx context.Context) (*read.Case, error) {
	f.use = true
	h, _, err := f.gather(ctx)
	if err != nil {
		return nil, err
	}
	patient := read.FromMachine(h)
	if !f.elsewhere() { // else the environment is another machine's
		o := probeOptions(f.env)
		o.Whole = f.whole
		patient.Files, patient.Around = probe.EnvFiles(o), probe.Around(o)
	}
	return patient, nil
}

// everywhere answers `envfix doctor --all`.
func (f doctorFlags) everywhere(ctx context.Context) error {
	var by read.Case
	if err := f.judged(&by); err != nil {
		return err
	}
	told := examine.Environments(ctx, probeOptions(""), by)
	return answer(f.out, f.json, told, ui.EnvironmentTable(told, f.verbose, system.HomeDir()), fail.OK)
}
