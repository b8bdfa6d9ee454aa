// Envfix provisions Python environments in which PyTorch runs on the GPU that
// is there.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/nvmlchild"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func main() {
	limitBack()
	ctx, stop := interruptible()
	code := run(aloneIn(ctx), os.Args)
	stop()
	os.Exit(code)
}

// interruptible is the context that Ctrl-C ends. A signal that was ignored when
// envfix began, as under nohup, stays ignored for it and its children.
func interruptible() (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM}, signal.Ignored)
	if len(signals) == 0 { // NotifyContext would take every signal
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// run is the program: it parses the arguments, runs one command and turns its
// error into text (or JSON) and an exit code.
func run(ctx context.Context, args []string) int {
	defer func() { _, _ = stdout().Flush(), stderr().Flush() }() // a closed one leaves nobody to tell
	cmds := commands()
	in, err := cmdline.Parse(args, cmds)
	if err == nil {
		err = dispatch(ctx, in, cmds)
	}
	if err == nil {
		return fail.OK
	}
	return report(err, in.JSON)
}

// dispatch answers --help and --version, and otherwise runs the command.
func dispatch(ctx context.Context, in cmdline.Invocation, cmds []*cli.Command) error {
	c := in.Command()
	switch {
	case noOutput() && (in.Version || in.Help || c == nil || !slices.Contains(worksUnseen, c.Name)):
		return fail.New(fail.Failed, "standard output is closed, and nothing could be shown",
			"`>/dev/null` drops what a command prints")
	case in.Version:
		return showVersion(ctx, stdout(), in.Verbose)
	case in.Help || c != nil && c.Action == nil:
		return showHelp(stdout(), in.Path)
	case c == nil || slices.Contains(onlyRead, c.Name):
		// Nothing to bring to an end: Ctrl-C may simply end it, also where it waits
		// for standard input.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		collectLate()
	case c.Name == "apply": // makes a plan as well
		collectLate()
	}
	app := &cli.App{
		Name:                      "envfix",
		Commands:                  cmds,
		Action:                    homeAction,
		Writer:                    stdout(),
		ErrWriter:                 stderr(),
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true, // a GPU's name and a URL may hold a comma
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
	}
	return app.RunContext(ctx, in.Argv)
}

// collectLate lets the heap grow to 16 MB before it is collected for the first
// time, not 4: a plan allocates less in all and ends, in 25 MB. Collecting it once
// or twice was a tenth of its processor time. A GOGC of the user's stands.
func collectLate() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// onlyRead are commands that change nothing and start nothing that would stay.
var onlyRead = []string{"facts", "plan", "why", "doctor", "explain", "env", "completion", "schema", "mcp"}

// worksUnseen are commands that are of use also where nobody reads what they print.
var worksUnseen = []string{"apply", "add", "remove", "rollback", "run", "lock", "__root", nvmlchild.ReportCommand, nvmlchild.SampleCommand}

// commands are those of the help text, in its order, and those that it does not show.
func commands() (all []*cli.Command) {
	for _, g := range commandGroups() {
		all = append(all, g.Commands...)
	}
	root := &cli.Command{Name: "__root", Hidden: true, Usage: "run one step as root", Action: rootAction}
	all = append(all, root, bringCommand(), nvmlCommand(), nvmlSampleCommand(), completeCommand())
	complete(all)
	return all
}

// complete gives every command what all have: our words for a usage error, and our
// help in place of the library's.
func complete(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError = usageError
		c.HideHelp = true
		complete(c.Subcommands)
	}
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return fail.Wrong(ui.Clean(err.Error()), "`envfix --help` lists the commands")
}

// report prints an error and returns its exit code: as JSON on stdout where JSON
// was asked for, else as text on stderr.
func report(err error, asJSON bool) int {
	f := fail.Shortened(fail.Of(err))
	switch {
	case f.Text == "":
	case asJSON:
		// Who redirects it into a file sees nothing of it: the terminal is told as well.
		if noOutput() || writeErrorJSON(stdout(), f) != nil || isTerminal(stderr()) && !isTerminal(stdout()) {
			fmt.Fprint(stderr(), ui.Error(f.Text, f.Details, f.Hints))
		}
	default:
		_, _ = f.Script.WriteTo(stdout()) // a closed stdout leaves nobody to tell
		fmt.Fprint(stderr(), style(stderr()).Error(f.Text, f.Details, f.Hints))
	}
	return f.Code
}

func writeErrorJSON(w io.Writer, f *fail.Error) error {
	answer := errorAnswer{Format: 1, Error: errorJSON{f.Code, f.Text, f.Details, append([]string{}, f.Hints...), f.Script.String()}}
	answer.Host = f.Host
	if f.State != "" {
		answer.State, answer.Changed = f.State, &f.Changed
	}
	return writeJSON(w, answer)
}

// An errorAnswer is the JSON of every command that fails.
type errorAnswer struct {
	Format  int       `json:"format"`
	State   string    `json:"state,omitempty"`   // of `envfix apply`
	Changed *bool     `json:"changed,omitempty"` // of `envfix apply`
	Host    string    `json:"host,omitempty"`    // of `envfix verify --static`
	Error   errorJSON `json:"error"`
}

type errorJSON struct {
	Code    int      `json:"code"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
	Hints   []string `json:"hints"`
	Script  string   `json:"script,omitempty"`
}
