//go:build linux

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/testindex"

	"github.com/google/go-cmp/cmp"
)

// talking is a plan whose installer says these lines, with its script before.
func (b *bench) talking(script string) *plan.Plan {
	return b.plan("2.14.1+cu126", func(p *plan.Plan) {
		copied := p.Steps[1].Run.Argv
		p.Steps[1].Run.Argv = append([]string{"sh", "-c", script + "\nexec \"$@\"", "sh"}, copied...)
	})
}

const chatter = "echo Resolved 26 packages in 1.2s; echo ' + nvidia-cublas==12.6'; echo Prepared 26 packages in 60s"

// On a terminal the last line lives: it says how far the installer is, is never
// longer than the terminal, and leaves nothing behind. What the installer prints
// is in the log alone.
func TestLiveProgress(t *testing.T) {
	b := newBench(t)
	b.how.Columns = func() int { return 25 }
	b.mustApply(b.talking(chatter))
	// what stays is what is printed after the last erasing of each line
	var stays []string
	widest, erased := 0, 0
	for line := range strings.Lines(b.out.String()) {
		pieces := strings.Split(strings.TrimSuffix(line, "\n"), erase)
		for _, p := range pieces[:len(pieces)-1] {
			widest = max(widest, len([]rune(p)))
		}
		erased += len(pieces) - 1
		stays = append(stays, pieces[len(pieces)-1])
	}
	want := []string{"step 1 of 4: make the environment", "step 2 of 4: install torch 2.14.1+cu126", "step 3 of 4: verify",
		"proven: import torch 2.14.1+cu126; CUDA 12.6; cuDNN 9.10.2", "not proven: nothing was computed on a GPU: none is usable here", "step 4 of 4: switch .venv"}
	if diff := cmp.Diff(want, stays); diff != "" {
		t.Errorf("what stays (-want +got):\n%s", diff)
	}
	for _, live := range []string{"  preparing, 0:00", "  installing, 0:00"} {
		if !strings.Contains(b.out.String(), erase+live) {
			t.Errorf("%q was never shown:\n%q", live, b.out.String())
		}
	}
	if strings.Contains(b.out.String(), "cublas") || !strings.Contains(b.lastLog("torch"), " + nvidia-cublas==12.6\n") {
		t.Errorf("the installer's own lines belong into the log:\n%q\n%q", b.out.String(), b.lastLog("torch"))
	}
	if widest > 24 || erased < 3 {
		t.Errorf("the living line had up to %d characters of 25, and was erased %d times", widest, erased)
	}
}

// In a pipe there is one line a step, and with --verbose all that is said.
func TestPipedProgress(t *testing.T) {
	b := newBench(t)
	b.mustApply(b.talking(chatter))
	if out := b.out.String(); strings.Contains(out, "\x1b") || strings.Contains(out, "cublas") || strings.Count(out, "step ") != 4 {
		t.Errorf("output:\n%s", out)
	}
	b = newBench(t)
	b.how.Verbose, b.how.Columns = true, func() int { return 25 }
	b.mustApply(b.talking(chatter))
	if out := b.out.String(); strings.Contains(out, "\x1b") || !strings.Contains(out, "\n + nvidia-cublas==12.6\n") || !strings.Contains(out, "\n$ sh -c") {
		t.Errorf("output with --verbose:\n%s", out)
	}
}

// In a log a line comes now and then, so that nobody takes it for dead.
func TestLoggedProgress(t *testing.T) {
	lines := make(chan string)
	s := &screen{out: writer(func(line string) { lines <- line })}
	step := plan.Step{Run: &plan.Run{Argv: []string{"uv", "pip", "install", "--default-index", "https://index.example/simple"}}}
	f := s.follow(&run{Options: Options{Every: time.Millisecond}, plan: &plan.Plan{Steps: []plan.Step{step}}, env: &Env{Dir: t.TempDir()}, screen: s}, 0)
	for _, line := range []string{"Resolved 2 packages\n", "Downloading torch (1.0GiB)\n"} {
		if _, err := f.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for line := range lines { // the first may have been drawn before
		if strings.HasPrefix(line, "  downloading torch from index.example, ") {
			break
		}
	}
	go func() {
		for range lines {
		}
	}()
	f.end()
	close(lines)
}

type writer func(string)

func (w writer) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// The living line says how much of the planned bytes is there.
func TestProgressInBytes(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, columns: func() int { return 120 }}
	dir := t.TempDir()
	free, _, err := system.Free(dir)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	f := &follower{run: &run{screen: s}, phase: "downloading", planned: 5_800_000_000, start: start, host: "index.example", places: []place{{filepath.Join(dir, "gone"), 1 << 40}, {dir, free + 2_450_000_000}}}
	for _, line := range []string{"Downloading torch (845.1MiB)", "Downloading numpy (16.1MiB)", "Downloading gone (2.0GiB)", " Downloaded gone"} {
		f.hear(line)
	}
	f.samples = []sample{{start, 50_000_000}}
	// others use this disk, too
	want := `^  downloading torch from index\.example, 4\d %, 2\.\d GB of about 5\.8 GB on disk, 2\d\d MB/s, 0:10, about 0:1\d left$`
	if got := f.line(start.Add(10 * time.Second)); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("got %q", got)
	}
	s.columns = func() int { return 64 } // the time left is never cut
	want = `^  downloading torch from index\.example, 4\d %, about 0:1\d left$`
	if got := f.line(start.Add(10 * time.Second)); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("got %q", got)
	}
	s.columns = func() int { return 120 }
	f.planned = 2_000_000_000 // the others wrote more than that: there is no share, and no total
	if got := f.line(start.Add(10 * time.Second)); strings.Contains(got, "%") || strings.Contains(got, "of about") || !strings.Contains(got, "GB on disk") {
		t.Errorf("got %q", got)
	}
	s.columns = func() int { return 80 }
	f.phase = "finishing"
	if got := f.line(start.Add(11 * time.Second)); got != "  finishing, 0:11" {
		t.Errorf("got %q", got)
	}
	f.phase = "downloading"
	f.hear("  Downloading pandas-3.1.1-cp311-cp311-manylinux_2_24_x86_64.whl (12.4 MB)")
	f.planned, f.places, f.host = 0, f.places[:1], ""
	if got := f.line(start); got != "  downloading pandas, 0:00" {
		t.Errorf("got %q", got)
	}
	s.live("x")
	s.print("done")
	s.live("")
	if !strings.HasSuffix(out.String(), erase+"done\n") {
		t.Errorf("got %q", out.String())
	}
}

// uv draws a bar for each file; the large ones are shown, by uv's own figures, never as more
// than there is, and go with what they are bars of.
func TestProgressInBars(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, columns: func() int { return 80 }}
	f := &follower{run: &run{screen: s}, phase: "preparing", start: time.Now()}
	f.hear("⠙ Preparing packages... (1/9)      numpy     ------------------------------ 12.00 MiB/16.10 MiB      torch      ------------------------------ 256.00 MiB/512.00 MiB      " +
		"nvidia-cublas        ------------------------------     0 B/1.50 GiB      odd        ------------------------------ 90.00 MiB/80.00 MiB")
	want := "  downloading nvidia-cublas, 0:00" +
		"\n    nvidia-cublas            [--------------------]   0 %, 0 kB of 1.6 GB" +
		"\n    torch                    [##########----------]  50 %, 268 MB of 537 MB"
	if got := f.line(f.start); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.live(f.line(f.start))
	s.live("x")
	s.print("done")
	if !strings.HasSuffix(out.String(), "537 MB\x1b[2A\r\x1b[Jx"+erase+"done\n") {
		t.Errorf("got %q", out.String())
	}
	f.hear("⠙ Preparing packages... (8/9)      torch      ------------------------------ 512.00 MiB/512.00 MiB")
	if got := f.line(f.start); !strings.HasSuffix(got, "\n    torch                    [####################] 100 %, 537 MB of 537 MB") {
		t.Errorf("got %q", got)
	}
	f.phase = "installing"
	if got := f.line(f.start); got != "  installing, 0:00" {
		t.Errorf("got %q", got)
	}
	s.columns = nil // a log
	f.phase = "downloading"
	if got := f.line(f.start); strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
}

// Whatever kind of step fails, and however: its last lines, its log and what to do
// are told, and the log is nobody else's.
func TestEachFailureSaysWhatToDo(t *testing.T) {
	step := func(n int, s plan.Step) func(*plan.Plan) {
		return func(p *plan.Plan) {
			s.ID, s.Title = p.Steps[n].ID, p.Steps[n].Title
			p.Steps[n] = s
		}
	}
	sh := func(script string) plan.Step { return plan.Step{Run: &plan.Run{Argv: []string{"sh", "-c", script}}} }
	for _, tt := range []struct {
		name   string
		spoil  func(*plan.Plan)
		kind   int
		text   string
		detail string
		hint   string
		log    bool
	}{
		{"an installer", step(1, sh("echo first; echo last words; exit 3")), fail.Failed, "sh exited with status 3", "last words", "mend what its last lines name", true},
		{"killed for its memory", step(1, sh("echo linking; kill -KILL $$")), fail.Failed, "sh was ended by killed", "linking", "memory runs out", true},
		{"a crash", step(1, sh("kill -SEGV $$")), fail.Failed, "sh was ended by segmentation fault", "", "run the command again", true},
		{"a full disk", step(1, sh("echo \"OSError: [Errno 28] No space left on device\"; exit 1")), fail.Preflight, "no space is left", "No space", "XDG_CACHE_HOME", true},
		{"it is not there", step(1, plan.Step{Run: &plan.Run{Argv: []string{"/nonexistent/uv"}}}), fail.Failed, "/nonexistent/uv", "", "was here when the plan was made", false},
		{"the proof does not run", step(2, plan.Step{Verify: &plan.Verify{Imports: []string{"torch"}}}), fail.Verify, "", "", "", true},
		{"a file cannot be written", step(1, plan.Step{Write: &plan.Write{Path: "{gen}/pyvenv.cfg/x", Content: "x"}}), fail.Failed, "pyvenv.cfg", "", "then run the command again", false},
		{"a block cannot be written", step(1, plan.Step{Block: &plan.Block{Path: "{gen}/lib", Name: "x", Lines: []string{"x"}}}), fail.Failed, "lib", "", "then run the command again", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.plan("2.14.1+cu126", tt.spoil)
			if tt.kind == fail.Verify { // torch is there and does not import
				w := testindex.Torch("2.14.1+cu126", "12.6")
				w.Files["torch/__init__.py"] = "import os; os.abort()\n"
				p = b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[1].Run.Argv[2] = b.unpacked(w) + "/." })
			}
			_, err := b.apply(context.Background(), p)
			if err == nil {
				t.Fatal("it worked")
			}
			b.wantKind(err, tt.kind)
			var e *fail.Error
			errors.As(err, &e)
			if !strings.Contains(e.Text, tt.text) || !strings.Contains(strings.Join(e.Details, "\n"), tt.detail) || !strings.Contains(strings.Join(e.Hints, "\n"), tt.hint) || len(e.Hints) == 0 {
				t.Errorf("%s\n%q\n%q\nwant %q, %q, %q", e.Text, e.Details, e.Hints, tt.text, tt.detail, tt.hint)
			}
			told := ""
			for _, h := range e.Hints {
				if name, yes := strings.CutPrefix(h, "its whole output is in "); yes {
					told = name
				}
			}
			if info, err := os.Stat(told); tt.log && (err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(told) != filepath.Join(b.dir, logsDir)) {
				t.Errorf("log %q: %v, %v", told, info, err)
			}
		})
	}
}
