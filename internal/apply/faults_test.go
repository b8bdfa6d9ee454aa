//go:build failpoints

package apply

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"envfix/internal/plan"
)

// The fault harness: `make faults`. Every point at which a fault can be injected
// is passed by three stories (a second environment, the adoption of a directory
// that was there, a rollback), and each point fails in each way in a process of
// its own. Afterwards the environment must import, as the old or as the new one;
// running again must end well, and nothing else may have changed.

var kills = flag.Int("kills", 50, "random kills of real installers, half with pip and half with uv")
var seed = flag.Int64("seed", 1, "of the random kills")

var inTurn = flag.Bool("turns", false, "at each point a kill and one of the other faults, in turn")

var faultKinds = []string{"kill", "enospc", "eio", "sigint", "sigterm"}

// faultsAt are the faults of the i-th point of a story.
func faultsAt(i int) []string {
	if *inTurn {
		return []string{faultKinds[0], faultKinds[1+i%(len(faultKinds)-1)]}
	}
	return faultKinds
}

// A story is one way of using envfix: a project to begin with, what is run, and
// what torch is before and after.
type story struct {
	name     string
	template string // project directory, copied for every fault
	plan     string // plan file; "" a rollback
	id       string // generation to roll back to
	old, new string
	env      []string // of the process
}

// outcome is what one fault led to.
type outcome struct {
	story, point, kind string
	torn, stuck        bool // no environment imports; running again did not end well
	gap                bool // between two renames: none until the next run
	changed            string
	after              string // what torch was after the fault
}

func TestFaults(t *testing.T) {
	b := newBench(t)
	stories := makeStories(b)
	var todo []outcome
	for _, s := range stories {
		for i, point := range s.points(b) {
			for _, kind := range faultsAt(i) {
				todo = append(todo, outcome{story: s.name, point: point, kind: kind})
			}
		}
	}
	byName := map[string]story{}
	for _, s := range stories {
		byName[s.name] = s
	}
	atOnce(len(todo), func(i int) { todo[i] = byName[todo[i].story].inject(b, todo[i]) })
	report(t, stories, todo)
}

// makeStories prepares the projects.
func makeStories(b *bench) []story {
	b.Helper()
	second := b.saved(b.plan("2.14.1+cu126", moreSteps))
	b.mustApply(b.plan("2.13.0+cu126", moreSteps))
	twice := newBenchAt(b.T, b.python, b.site)
	oldest := twice.mustApply(twice.plan("2.12.0+cu126", moreSteps))
	twice.mustApply(twice.plan("2.13.0+cu126", moreSteps))
	adopt := newBenchAt(b.T, b.python, b.site)
	adopt.mustApply(adopt.plan("2.13.0+cu126", func(p *plan.Plan) {
		moreSteps(p)
		p.Target.InPlace = true
		p.Steps = p.Steps[:len(p.Steps)-1]
	}))
	if err := os.RemoveAll(filepath.Join(adopt.dir, stateDir)); err != nil {
		b.Fatal(err)
	}
	adopted := newBenchAt(b.T, b.python, b.site)
	if out, err := exec.Command("cp", "-a", adopt.dir+"/.venv", adopted.dir).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	adopted.mustApply(adopted.plan("2.14.1+cu126", moreSteps))
	return []story{
		{"second", b.dir, second, "", "2.13.0+cu126", "2.14.1+cu126", nil},
		{"third, collects", twice.dir, second, "", "2.13.0+cu126", "2.14.1+cu126", nil},
		{"adopt", adopt.dir, second, "", "2.13.0+cu126", "2.14.1+cu126", nil},
		{"adopt, no exchange", adopt.dir, second, "", "2.13.0+cu126", "2.14.1+cu126", noExchange},
		{"rollback", twice.dir, "", oldest.Generation, "2.13.0+cu126", "2.12.0+cu126", nil},
		{"unadopt", adopted.dir, "", "", "2.14.1+cu126", "2.13.0+cu126", nil},
		{"unadopt, no exchange", adopted.dir, "", "", "2.14.1+cu126", "2.13.0+cu126", noExchange},
	}
}

// noExchange has the kernel refuse to exchange two names, as NFS does.
var noExchange = []string{"ENVFIX_NO_EXCHANGE=EINVAL"}

func newBenchAt(t *testing.T, python, site string) *bench {
	return &bench{T: t, dir: t.TempDir(), python: python, site: site}
}

func (s story) command(dir string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append([]string{"ENVFIX_FAULT_DIR=" + dir, "ENVFIX_FAULT_PLAN=" + s.plan, "ENVFIX_FAULT_ID=" + s.id, "HOME=" + filepath.Join(dir, "home"), "PATH=/usr/bin:/bin"}, slices.Concat(s.env, env)...)
	return c
}

// copy makes a project of the story's template, beside files that are nobody's
// business.
func (s story) copy(b *bench) string {
	b.Helper()
	dir, err := os.MkdirTemp(b.TempDir(), "p")
	if err == nil {
		err = exec.Command("cp", "-a", s.template+"/.", dir).Run()
	}
	if err == nil {
		err = errors.Join(os.WriteFile(dir+"/mine.txt", []byte("mine\n"), 0o644), os.MkdirAll(dir+"/home/.config", 0o755))
	}
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// torchOf asks the environment of the project for the version of its torch; ""
// means that it does not import.
func torchOf(project string) string {
	python := filepath.Join(project, ".venv/bin/python")
	out, err := exec.Command(python, "-I", "-c", "import torch; print(torch.__version__)").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// points lists the points that the story passes.
func (s story) points(b *bench) []string {
	b.Helper()
	dir := s.copy(b)
	list := filepath.Join(b.TempDir(), "points")
	if out, err := s.command(dir, "ENVFIX_FAILPOINT_LIST="+list).CombinedOutput(); err != nil {
		b.Fatalf("%s without a fault: %v\n%s", s.name, err, out)
	}
	if got := torchOf(dir); got != s.new {
		b.Fatalf("%s without a fault: torch is %q, want %q", s.name, got, s.new)
	}
	return passed(b.T, list)
}

// passed are the points in a list that ENVFIX_FAILPOINT_LIST named, each once.
func passed(t *testing.T, list string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for p := range strings.FieldsSeq(string(text)) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// atOnce calls f for 0 to n-1, as many at a time as there are processors.
func atOnce(n int, f func(i int)) {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}

// inject runs the story with one fault, looks, and runs it again without.
func (s story) inject(b *bench, o outcome) outcome {
	dir := s.copy(b)
	defer os.RemoveAll(dir)
	first, _ := s.command(dir, "ENVFIX_FAILPOINT="+o.point+"="+o.kind).CombinedOutput() // it is meant to fail
	o.after = torchOf(dir)
	if o.torn = o.after != s.old && o.after != s.new; o.torn && s.env != nil && o.point == twoRenames+":between" {
		o.torn, o.gap = false, true
	}
	if o.torn {
		b.Logf("%s, %s at %s: torn\n%s", s.name, o.kind, o.point, first)
	}
	again := s
	if s.plan == "" && o.after == s.new {
		o.stuck = false // it is there already; a second rollback would be another wish
	} else if out, err := again.command(dir).CombinedOutput(); err != nil || torchOf(dir) != s.new {
		b.Logf("%s, %s at %s: running again: %v, torch is %q\n%s", s.name, o.kind, o.point, err, torchOf(dir), out)
		o.stuck = true
	}
	o.changed = s.leftovers(dir)
	if o.changed != "" {
		b.Logf("%s, %s at %s: %s", s.name, o.kind, o.point, o.changed)
	}
	return o
}

// leftovers names what should not be there after all went well in the end.
func (s story) leftovers(dir string) string {
	var bad []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		top, _, _ := strings.Cut(name, "/")
		switch {
		case err != nil:
			return err
		case strings.Contains(d.Name(), ".envfix-tmp-") && s.plan != "", name == nextLink && s.plan != "":
			bad = append(bad, name)
		case name != "." && !slices.Contains([]string{stateDir, ".venv", "mine.txt", "home"}, top):
			bad = append(bad, name)
		case top == "home" && name != "home" && name != "home/.config":
			bad = append(bad, name)
		}
		return nil
	})
	if err != nil {
		bad = append(bad, err.Error())
	}
	if text, err := os.ReadFile(dir + "/mine.txt"); err != nil || string(text) != "mine\n" {
		bad = append(bad, "mine.txt")
	}
	e, err := Open(filepath.Join(dir, ".venv"))
	if err != nil {
		return err.Error()
	}
	defer e.Close()
	gens, err := e.everyGeneration()
	entries, err2 := fs.ReadDir(e.root.FS(), gensDir)
	if errors.Join(err, err2) != nil || s.plan != "" && len(entries) > 2*len(gens) {
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		bad = append(bad, fmt.Sprint("generations ", names))
	}
	return strings.Join(bad, ", ")
}

// report prints the table and fails the test for every bad outcome.
func report(t *testing.T, stories []story, done []outcome) {
	t.Helper()
	type row struct{ points, old, new, gap, torn, stuck, changed int }
	table := map[string]*row{}
	points := map[string]bool{}
	for _, o := range done {
		key := o.story + "|" + o.kind
		if table[key] == nil {
			table[key] = &row{}
		}
		r := table[key]
		r.points++
		points[o.story+o.point] = true
		for _, s := range stories {
			if s.name == o.story && o.after == s.old {
				r.old++
			} else if s.name == o.story && o.after == s.new {
				r.new++
			}
		}
		if o.gap {
			r.gap++
		}
		if o.torn {
			r.torn++
		}
		if o.stuck {
			r.stuck++
		}
		if o.changed != "" {
			r.changed++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %-8s %6s %5s %5s %5s %5s %14s %9s\n", "story", "fault", "points", "old", "new", "gap", "torn", "not recovered", "left over")
	bad := 0
	for _, key := range slices.Sorted(maps.Keys(table)) {
		r := table[key]
		name, kind, _ := strings.Cut(key, "|")
		fmt.Fprintf(&b, "%-20s %-8s %6d %5d %5d %5d %5d %14d %9d\n", name, kind, r.points, r.old, r.new, r.gap, r.torn, r.stuck, r.changed)
		bad += r.torn + r.stuck + r.changed
	}
	fmt.Printf("%s%d points, %d faults\n", b.String(), len(points), len(done))
	if len(points) < 60 {
		t.Errorf("%d points; at least 60 are wanted", len(points))
	}
	if bad > 0 {
		t.Errorf("%d bad outcomes", bad)
	}
}
