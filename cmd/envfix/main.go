// Envfix provisions Python environments in which PyTorch runs on the GPU that
// is there.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args)
	stop()
	os.Exit(code)
}

// run is the program: it parses the arguments, runs one command and turns its
// error into text (or JSON) and an exit code.
func run(ctx context.Context, args []string) int {
	app := &cli.App{
		Name:                   "envfix",
		Usage:                  "get PyTorch to run on the GPU that is there",
		Commands:               commands(),
		HideHelpCommand:        true,
		UseShortOptionHandling: false,
		ExitErrHandler:         func(*cli.Context, error) {},
		OnUsageError:           usageError,
	}
	err := app.RunContext(ctx, args)
	if err == nil {
		return exitOK
	}
	return report(err, args)
}

// commands lists the commands in the order of the help text. Each lives in the
// file of its name.
func commands() []*cli.Command {
	return []*cli.Command{}
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return &failure{code: exitUsage, text: err.Error(), hints: []string{"`envfix --help` lists commands and flags"}}
}

// report prints an error and returns its exit code.
func report(err error, args []string) int {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitFailed, text: err.Error()}
	}
	fmt.Fprintf(os.Stderr, "envfix: error: %s\n", f.text)
	return f.code
}
