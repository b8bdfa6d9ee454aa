package apply

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// The history tells everything that was done, how it ended and where it stopped, in
// JSON that other programs read.
func TestHistory(t *testing.T) {
	b := newBench(t)
	e := b.open()
	if h, err := e.History(); err != nil || len(h.Events) != 0 || h.Format != 1 || h.Events == nil || h.Generations == nil {
		t.Errorf("before anything: %+v, %v", h, err)
	}
	first := b.mustApply(b.plan("2.12.0+cu126"))
	second := b.mustApply(b.plan("2.13.0+cu126"))
	if _, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[1].Run.Argv[0] = "false" })); err == nil {
		t.Fatal("it worked")
	}
	if _, err := e.Rollback(""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.apply(ctx, b.plan("2.15.0+cu126"))
	b.wantKind(err, fail.Interrupted)
	fourth := b.mustApply(b.plan("2.16.0+cu126"))
	fifth := b.mustApply(b.plan("2.17.0+cu126"))
	cut, err := e.root.ReadFile(journalName) // as kill -9 leaves it: begun, and nothing after
	if err != nil {
		t.Fatal(err)
	}
	line, err := encodeEntry(Entry{Seq: 1 + countLines(cut), State: Begin, Env: ".venv", Plan: "sha256:00", Gen: "00-9", Note: "torch 2.18.0", Time: "2026-11-21T12:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, journalName), append(cut, line...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, end, err := e.begin() // and as it is while another envfix works on it
	if err != nil {
		t.Fatal(err)
	}
	if h, err := e.History(); err != nil || h.Events[len(h.Events)-1].State != "running" {
		t.Errorf("under the lock: %+v, %v", h.Events, err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	h, err := e.History()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Format  int
		Env     string
		Current string
		Logs    string
		Events  []struct {
			Time, Ended, What, State, Step, Note string
			Generation                           string
		}
		Generations []struct {
			ID, Torch, Created, Plan string
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	var events, gens [][]string
	for _, ev := range read.Events {
		ended := "ended"
		if ev.Ended == "" {
			ended = ""
		}
		if ev.Time == "" {
			t.Errorf("an event without its time: %+v", ev)
		}
		events = append(events, []string{ev.What, ev.State, ev.Generation, ev.Step, ended})
	}
	for _, g := range read.Generations {
		gens = append(gens, []string{g.ID, g.Torch})
		if g.Created == "" || g.Plan == "" {
			t.Errorf("a generation without its day or plan: %+v", g)
		}
	}
	third, none := read.Events[2].Generation, read.Events[4].Generation
	if diff := cmp.Diff([][]string{
		{"apply", "done", first.Generation, "", "ended"},
		{"apply", "done", second.Generation, "", "ended"},
		{"apply", "failed", third, "torch", "ended"},
		{"rollback", "done", first.Generation, "", ""},
		{"apply", "failed", none, "venv", "ended"},
		{"apply", "done", fourth.Generation, "", "ended"},
		{"collect", "done", second.Generation, "", ""}, // not the first, which was in use
		{"apply", "done", fifth.Generation, "", "ended"},
		{"collect", "done", first.Generation, "", ""},
		{"apply", "cut off", "00-9", "", ""},
	}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff([][]string{{fourth.Generation, "2.16.0"}, {fifth.Generation, "2.17.0"}}, gens); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
	if read.Format != 1 || read.Current != fifth.Generation || read.Env != filepath.Join(b.dir, ".venv") || read.Logs != filepath.Join(b.dir, logsDir) {
		t.Errorf("%+v", read)
	}
}

func countLines(b []byte) (n int) {
	for _, c := range b {
		if c == '\n' {
			n++
		}
	}
	return n
}
