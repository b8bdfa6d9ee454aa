//go:build linux

package apply

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testenv"
)

// TestMain lets the test binary stand in for envfix: a fault may end it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ENVFIX_FAULT_DIR"); dir != "" {
		os.Exit(faultChild(dir, os.Getenv("ENVFIX_FAULT_PLAN")))
	}
	flag.Parse()
	testenv.Clean()
	// net/http keeps the proxies that it reads first: none, whichever test comes first.
	_, _ = http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "index.invalid"}})
	code := m.Run()
	if dir, err := emptyVenv(); err == nil {
		os.RemoveAll(filepath.Dir(dir))
	}
	os.Exit(code)
}

// faultChild applies the plan in the file, or rolls back where there is none. It
// exits 0 when that worked.
func faultChild(dir, file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := poorer(); err != nil {
		fmt.Fprintln(os.Stderr, "no filter of system calls:", err)
		return 1
	}
	e, err := Open(filepath.Join(dir, ".venv"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if file == "" {
		_, err = e.Rollback(os.Getenv("ENVFIX_FAULT_ID"))
	} else {
		var b []byte
		var p *plan.Plan
		if b, err = os.ReadFile(file); err == nil {
			if p, err = plan.Decode(b); err == nil {
				err = applyInChild(ctx, e, p)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// saved writes a plan into a file of its own.
func (b *bench) saved(p *plan.Plan) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "plan.json")
	text, err := plan.Encode(p)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// applyInChild applies p, on a stand-in of a machine where there is one, and goes on
// after the reboot that p asks for.
func applyInChild(ctx context.Context, e *Env, p *plan.Plan) error {
	dir := os.Getenv("ENVFIX_FAULT_SYSTEM")
	if dir == "" {
		_, err := e.Apply(ctx, p, Options{Out: os.Stderr})
		return err
	}
	m := standIn{dir}
	_, err := e.Apply(ctx, p, m.options(os.Stderr))
	var known *fail.Error
	if errors.As(err, &known) && known.Code == fail.Reboot {
		if err := m.reboot(); err != nil {
			return err
		}
		_, err = e.Apply(ctx, p, m.options(os.Stderr))
	}
	return err
}

// moreSteps adds a step of each further kind to a plan.
func moreSteps(p *plan.Plan) {
	p.Steps = slices.Insert(p.Steps, 2,
		plan.Step{ID: "note", Title: "write a file", Write: &plan.Write{Path: "{gen}/note", Mode: 0o644, Content: "torch " + p.Torch + "\n"}},
		plan.Step{ID: "activate", Title: "edit the activate script", Block: &plan.Block{Path: "{gen}/bin/activate", Name: "test", Lines: []string{"# " + p.Torch}}},
		checked("true"))
}

// checked is the step that has an installer check what it installed, with a stand-in
// for uv.
func checked(program string) plan.Step {
	return plan.Step{ID: "check", Title: "check that the packages agree", Run: &plan.Run{Argv: []string{program, "pip", "check", "--python", "{gen}/bin/python"}}}
}
