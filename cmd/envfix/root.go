package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// maxStep is more than any step for root takes as JSON.
const maxStep = 1 << 20

// rootAction is the only thing that envfix runs with root's rights when it was
// started by a user: one step, read from standard input, if it is among the few
// that root may run.
func rootAction(c *cli.Context) error {
	if os.Geteuid() != 0 {
		return fail.New(fail.Privilege, "`envfix __root` is for `envfix apply` to run through sudo")
	}
	// Nobody's going away ends root's half: the terminal's, or that of the envfix which
	// reads what it prints. The package manager would end with it, in the middle of its
	// work. The signals are taken, not ignored: what is started does not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	b, err := io.ReadAll(io.LimitReader(os.Stdin, maxStep+1))
	if err != nil {
		return err
	}
	var s plan.Step
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || len(b) > maxStep || d.More() {
		return fail.Wrong("standard input holds no step")
	}
	return apply.Wrap(apply.Direct(c.Context, s, stdout(), nil))
}

// rooter finds out how steps for root can be run here: as root, or through sudo,
// which may ask for a password on a terminal. It is nil where there is no way.
func rooter(ctx context.Context) apply.Rooter {
	if os.Geteuid() == 0 {
		return apply.Direct
	}
	sudo, err := system.Resolve([]string{"sudo"}, true)
	if err != nil {
		return nil
	}
	if exec.CommandContext(ctx, sudo, "-n", "-v").Run() != nil {
		if !isTerminal(os.Stdin) {
			return nil
		}
		ask := exec.CommandContext(ctx, sudo, "-v")
		ask.Stdin, ask.Stdout, ask.Stderr = os.Stdin, os.Stderr, os.Stderr
		if ask.Run() != nil {
			return nil
		}
	}
	return apply.ViaSudo(sudo, stderr())
}

// asInvoker runs this very command again as the user who started it with sudo: an
// environment that belongs to root in a user's project is of no use to them. It
// reports false where nobody did.
func asInvoker() (bool, error) {
	owner := system.SudoOwner()
	if owner == nil {
		return false, nil
	}
	fmt.Fprintf(stderr(), "envfix: going on as %s; steps for root go through sudo\n", ui.Clean(owner.Name))
	err := system.Become(owner, os.Args)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return true, &fail.Error{Code: exit.ExitCode()}
	}
	return true, err
}
