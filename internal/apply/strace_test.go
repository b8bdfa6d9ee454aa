//go:build linux

package apply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// strace returns the path of strace, which is installed where it is missing and
// we are root.
func strace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		if out, err := exec.Command("apt-get", "install", "-y", "-q", "strace").CombinedOutput(); err != nil {
			t.Skipf("strace is not here and could not be installed (%v): what is executed and synced is not checked\n%s", err, out)
		}
		if path, err = exec.LookPath("strace"); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// traced applies p in a process of its own and returns its system calls.
func (b *bench) traced(p *plan.Plan, env ...string) []string {
	b.Helper()
	file, trace := b.saved(p), filepath.Join(b.TempDir(), "trace")
	c := exec.Command(strace(b.T), "-f", "-y", "-s", "100000", "-o", trace, "-e", "trace=execve,execveat,fsync,fdatasync,syncfs,rename,renameat,renameat2,symlink,symlinkat", os.Args[0])
	c.Env = []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_FAULT_PLAN=" + file, "HOME=" + b.TempDir(), "PATH=/usr/bin:/bin"}
	c.Env = append(c.Env, env...)
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "Operation not permitted") {
			b.Skipf("no process may be traced here: %s", out)
		}
		b.Fatalf("%v\n%s", err, out)
	}
	calls, err := os.ReadFile(trace)
	if err != nil {
		b.Fatal(err)
	}
	return joined(string(calls))
}

var (
	unfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
)

// joined joins calls that strace reports in two halves.
func joined(trace string) (out []string) {
	begun := map[string]string{}
	for line := range strings.Lines(trace) {
		line = strings.TrimSuffix(line, "\n")
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[2]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + begun[m[1]] + m[2]
		}
		out = append(out, line)
	}
	return out
}

var execCall = regexp.MustCompile(`execve\("((?:[^"\\]|\\.)*)", \[(.*?)\], 0x[0-9a-f]+.*\) += 0$`)

// executed returns the argument vectors of the programs that were started, but
// for our own.
func executed(t *testing.T, calls []string) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range calls {
		m := execCall.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var argv []string
		for _, quoted := range regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).FindAllString(m[2], -1) {
			arg, err := strconv.Unquote(octal(quoted))
			if err != nil {
				t.Fatalf("%s: %v", quoted, err)
			}
			argv = append(argv, arg)
		}
		out = append(out, argv)
	}
	return out[1:]
}

// octal writes strace's \0 to \377 as Go wants them, with three digits.
func octal(s string) string {
	return regexp.MustCompile(`\\([0-7]{1,3})`).ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[1:], 8, 16)
		return fmt.Sprintf(`\%03o`, n)
	})
}

// What is executed is the plan's commands and nothing else, byte for byte, in a
// project whose name would do harm in a shell, on a GPU whose name would.
func TestThreat01ShellInjection(t *testing.T) {
	b := newBench(t)
	b.dir = filepath.Join(b.dir, "a b'\"$(touch pwn)`touch pwn`;touch pwn\n#é*")
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := b.plan("2.14.1+cu126", func(p *plan.Plan) {
		moreSteps(p)
		p.Warnings = []string{"$(touch pwn)\n; #'\""}
		p.Steps[0].Title = "GPU $(touch pwn)`touch pwn`\n; #'\"\x1b[31m"
	})
	calls := b.traced(p)
	e := b.open()
	gen := e.path(genPath(e.Current()))
	var want [][]string
	for _, s := range p.Steps {
		switch {
		case s.Run != nil:
			var argv []string
			for _, a := range s.Run.Argv {
				argv = append(argv, strings.ReplaceAll(a, "{gen}", gen))
			}
			want = append(want, argv)
		case s.Verify != nil:
			want = append(want, Argv(Python(gen), s.Verify.Imports))
		}
	}
	got := executed(t, calls)
	for _, list := range [][][]string{want, got} { // uv's check of the packages runs beside the proof
		slices.SortFunc(list, slices.Compare[[]string])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("executed (-planned +run):\n%s", diff)
	}
	err := filepath.WalkDir(filepath.Dir(b.dir), func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "pwn" {
			t.Errorf("a shell read %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

var (
	syncCall   = regexp.MustCompile(`f(?:data)?sync\(\d+<(.*?)>\) += 0$`)
	renameCall = regexp.MustCompile(`renameat2?\(\d+<(.*?)>, "((?:[^"\\]|\\.)*)", \d+<(.*?)>, "((?:[^"\\]|\\.)*)"(, \w+)?\) += 0$`)
)

// Every rename of a file comes after the file's own fsync and before one of the
// directory; a link's comes after one of the directory that it was made in.
func TestEachRenameIsSynced(t *testing.T) {
	for _, env := range [][]string{nil, {"ENVFIX_NO_EXCHANGE=EINVAL"}} {
		b := newBench(t)
		b.mustApply(b.plan("2.13.0+cu126", func(p *plan.Plan) { // in place, so that it is adopted next
			moreSteps(p)
			p.Target.InPlace = true
			p.Steps = p.Steps[:len(p.Steps)-1]
		}))
		if err := os.RemoveAll(filepath.Join(b.dir, stateDir)); err != nil {
			t.Fatal(err)
		}
		checkSynced(t, b.traced(b.plan("2.14.1+cu126", moreSteps), env...), env == nil)
		if env == nil {
			checkSynced(t, b.traced(b.plan("2.15.0+cu126", moreSteps)), false)
		}
	}
}

func checkSynced(t *testing.T, calls []string, exchange bool) {
	t.Helper()
	renames, exchanged, syncfs := 0, false, -1
	for i, line := range calls {
		if strings.Contains(line, "syncfs(") {
			syncfs = i
		}
		m := renameCall.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "rename") && strings.HasSuffix(line, "= 0") && !strings.Contains(line, "__pycache__") {
				t.Errorf("not understood: %s", line)
			}
			continue
		}
		renames++
		from, to := filepath.Join(m[1], m[2]), filepath.Join(m[3], m[4])
		before := from
		if !strings.Contains(m[2], ".envfix-tmp-") { // a link, or a directory that is exchanged
			before = m[1]
			if syncfs < 0 {
				t.Errorf("the environment was not on the disk before %s", line)
			}
		}
		exchanged = exchanged || strings.Contains(m[5], "RENAME_EXCHANGE")
		if !synced(calls[:i], before) {
			t.Errorf("%s is not synced before\n%s", before, line)
		}
		if !synced(calls[i+1:], filepath.Dir(to)) {
			t.Errorf("%s is not synced after\n%s", filepath.Dir(to), line)
		}
	}
	if renames < 3 || exchanged != exchange {
		t.Errorf("%d renames, an exchange: %v; want %v", renames, exchanged, exchange)
	}
}

func synced(calls []string, path string) bool {
	return slices.ContainsFunc(calls, func(line string) bool {
		m := syncCall.FindStringSubmatch(line)
		return m != nil && m[1] == path
	})
}
