//go:build linux

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// waits is a stand-in for uv whose check ends only when the proof has begun.
const waits = `#!/bin/sh
echo Checking
for i in $(seq 300); do
	set -- .envfix/logs/*-verify.log
	[ -e "$1" ] && echo "All installed packages are compatible" && exit 0
	sleep 0.1
done
exit 1
`

// The check and the proof run at once; both are in the journal and in the answer.
func TestCheckBesideTheProof(t *testing.T) {
	b := newBench(t)
	uv := filepath.Join(b.TempDir(), "uv")
	if err := os.WriteFile(uv, []byte(waits), 0o700); err != nil {
		t.Fatal(err)
	}
	r := b.mustApply(b.plan("2.14.1+cu126", withCheck(uv)))
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q", got)
	}
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, s.Step)
		if s.Time <= 0 {
			t.Errorf("%s took no time", s.Step)
		}
	}
	if diff := cmp.Diff([]string{"venv", "torch", "check", "verify", "switch"}, steps); diff != "" {
		t.Error(diff)
	}
	if r.Own <= 0 {
		t.Errorf("of its own: %v", r.Own)
	}
	text, err := os.ReadFile(filepath.Join(b.dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := parseJournal(journalName, text)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, e := range entries {
		if e.Step == "check" || e.Step == "verify" {
			order = append(order, string(e.State)+" "+e.Step)
		}
	}
	if diff := cmp.Diff([]string{"intent check", "intent verify", "done verify", "done check"}, order); diff != "" {
		t.Error(diff)
	}
}

// Whichever of the two fails ends the plan, and of both it is the check; the old
// environment stays.
func TestCheckOrProofFails(t *testing.T) {
	shared := newBench(t)
	shared.mustApply(shared.plan("2.13.0+cu126"))
	before := shared.tree(".envfix/gens")
	wrong := func(p *plan.Plan) {
		for _, s := range p.Steps {
			if s.Verify != nil {
				s.Verify.Torch = "2.14.1+cpu"
			}
		}
	}
	for name, tt := range map[string]struct {
		program string
		spoil   func(*plan.Plan)
		kind    int
		says    string
	}{
		"the check":   {"false", func(*plan.Plan) {}, fail.Failed, "check that the packages agree: false exited with status 1"},
		"the proof":   {"true", wrong, fail.Verify, "the new environment does not prove itself"},
		"both":        {"false", wrong, fail.Failed, "check that the packages agree: false exited with status 1"},
		"interrupted": {"true", wrong, fail.Interrupted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, dir: shared.dir, python: shared.python, site: shared.site}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p := b.plan("2.14.1+cu126", withCheck(tt.program), tt.spoil)
			if tt.kind == fail.Interrupted {
				e := b.open()
				defer e.Close()
				_, err := e.Apply(ctx, p, Options{Out: &cancelAt{"step 4", cancel}})
				b.wantKind(err, tt.kind)
			} else {
				_, err := b.apply(ctx, p)
				b.wantKind(err, tt.kind)
				var e *fail.Error
				if errors.As(err, &e) && e.Text != tt.says {
					t.Errorf("got %q, want %q", e.Text, tt.says)
				}
			}
			if got := b.torch(); got != "2.13.0+cu126" {
				t.Errorf("torch: got %q, want the old one", got)
			}
			if diff := cmp.Diff(before, b.tree(".envfix/gens")); diff != "" {
				t.Errorf("generations (-before +after):\n%s", diff)
			}
		})
	}
}

// cancelAt ends a context when a line is written that holds text.
type cancelAt struct {
	text   string
	cancel context.CancelFunc
}

func (c *cancelAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.text) {
		c.cancel()
	}
	return len(b), nil
}

func withCheck(program string) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Steps = slices.Insert(p.Steps, 2, checked(program)) }
}

// Only what an installer's check is called runs beside the proof.
func TestOnlyChecks(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/uv pip check --python {gen}/bin/python":         true,
		"{gen}/bin/python -I -m pip --isolated check":             true,
		"/usr/bin/uv pip install --python {gen}/bin/python check": false,
		"/usr/bin/uv pip check --python {gen}/bin/python evil":    false,
		"{gen}/bin/python -I -m pip --isolated check evil":        false,
		"check": false,
	} {
		if got := onlyChecks(plan.Step{ID: "check", Run: &plan.Run{Argv: strings.Fields(line)}}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if onlyChecks(plan.Step{Root: true, Run: &plan.Run{Argv: strings.Fields("uv pip check --python x")}}) || onlyChecks(plan.Step{}) {
		t.Error("as root, or nothing")
	}
}
