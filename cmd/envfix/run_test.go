//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/probe/gpu"

	"github.com/google/go-cmp/cmp"
)

// envfixCommand is this test binary as envfix, with no GPU unless env says so.
func envfixCommand(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limit := time.Minute // a hang fails, it does not stall the suite
	if os.Getenv("ENVFIX_E2E") != "" || os.Getenv("ENVFIX_FRAMEWORKS_PYTHON") != "" {
		limit = 10 * time.Minute // importing a framework alone may take one
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"envfix"}, args...)
	cmd.Env = append(append(os.Environ(), "ENVFIX_NVML=off", "NO_COLOR=1", "XDG_STATE_HOME="+t.TempDir(), "XDG_RUNTIME_DIR="), env...)
	return cmd
}

// An outcome is all that a caller sees of a program.
type outcome struct {
	Stdout, Stderr string
	Code           int
	Signal         string
}

func outcomeOf(t *testing.T, cmd *exec.Cmd, stdin string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
	}
	o := outcome{Stdout: stdout.String(), Code: cmd.ProcessState.ExitCode()}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		o.Signal = ws.Signal().String()
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "envfix:") {
			o.Stderr += line
		}
	}
	return o
}

// TestRunUnchanged starts programs in many ways, with and without envfix run:
// output bytes, exit code and signal are the same.
func TestRunUnchanged(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "hash"), []byte("#!/bin/sh\necho first line $0 \"$@\"\n"), 0o777)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("no python3 on PATH: the ways that need it are not tested here")
	}
	tests := []struct {
		name  string
		argv  []string
		stdin string
	}{
		{"done", []string{"true"}, ""},
		{"exit code", []string{"sh", "-c", "echo out; echo err >&2; exit 7"}, ""},
		{"input", []string{"cat"}, "one\ntwo\x00three\xff"},
		{"binary output", []string{"head", "-c", "300000", "/dev/zero"}, ""},
		{"arguments", []string{"printf", "[%s]", "a b", "", "--json", "-v", "*", "\xff"}, ""},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, ""},
		{"terminated", []string{"sh", "-c", "kill -TERM $$"}, ""},
		{"interrupted", []string{"sh", "-c", "kill -INT $$"}, ""},
		{"crashed", []string{"sh", "-c", "ulimit -c 0; kill -SEGV $$"}, ""},
		{"aborted", []string{"sh", "-c", "ulimit -c 0; kill -ABRT $$"}, ""},
		{"script", []string{filepath.Join(dir, "hash"), "x y"}, ""},
		{"closes its output", []string{"sh", "-c", "exec >&- 2>&-; exit 3"}, ""},
		{"leaves a child behind", []string{"sh", "-c", "(exec >/dev/null 2>&1; sleep 1) & echo gone; exit 4"}, ""},
		{"extra descriptor is passed", []string{"sh", "-c", "echo $(ls /proc/self/fd 2>/dev/null | wc -l)"}, ""},
		{"python", []string{python, "-c", "import sys; print(sys.argv, sys.path[1:2] == sys.path[1:2], sys.flags.isolated); sys.exit(5)", "a"}, ""},
		{"python on stdin", []string{python, "-", "a"}, "import sys; print(sys.argv, sys.stdin.isatty())"},
		{"python isolated", []string{python, "-I", "-c", "import sys; print(sys.flags.isolated)"}, ""},
		{"python without site", []string{python, "-S", "-c", "import sys; print('site' in sys.modules)"}, ""},
		{"python raises", []string{python, "-c", "raise ValueError('user bug')"}, ""},
		{"python is interrupted", []string{python, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"}, ""},
		{"python replaces itself", []string{python, "-c", "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(6)'])"}, ""},
		{"python starts python", []string{python, "-c", "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'print(7); raise SystemExit(9)']))"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.argv[0] == "" {
				t.Skip("no python3 on PATH")
			}
			t.Parallel()
			plain := exec.Command(tt.argv[0], tt.argv[1:]...)
			want := outcomeOf(t, plain, tt.stdin)
			got := outcomeOf(t, envfixCommand(t, nil, append([]string{"run", "--"}, tt.argv...)...), tt.stdin)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("without envfix run, and with: %s", diff)
			}
		})
	}
}

// reportOf runs a job with --report and returns the report and stderr.
func reportOf(t *testing.T, env []string, args ...string) (r verdict.Report, o outcome) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.json")
	o = outcomeOf(t, envfixCommand(t, env, append([]string{"run", "--report", file}, args...)...), "")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%+v", err, o)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r, o
}

func TestRunBadInput(t *testing.T) {
	t.Run("codes of a shell", func(t *testing.T) {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o666)
		os.WriteFile(filepath.Join(dir, "lost"), []byte("#!/no/such/interpreter\n"), 0o777)
		for arg, want := range map[string]int{"no-such-command-here": 127, "/no/such/file": 127, filepath.Join(dir, "data"): 126, dir: 126, filepath.Join(dir, "lost"): 127, "": 127} {
			if o := outcomeOf(t, envfixCommand(t, nil, "run", "--", arg), ""); o.Code != want {
				t.Errorf("%q: %d, want %d", arg, o.Code, want)
			}
		}
	})
	t.Run("two runs compared", func(t *testing.T) {
		dir := t.TempDir()
		a, b := dir+"/a.json", dir+"/b.json"
		outcomeOf(t, envfixCommand(t, nil, "run", "--report", a, "--", "true"), "")
		outcomeOf(t, envfixCommand(t, nil, "run", "--save", b, "--", "true"), "")
		if o := outcomeOf(t, envfixCommand(t, nil, "run", "--price", "2.5", "--compare", a, b), ""); o.Code != 0 || !strings.HasPrefix(o.Stdout, "before: no_gpu: there is no GPU to use\nafter: no_gpu") {
			t.Errorf("%+v", o)
		}
		o := outcomeOf(t, envfixCommand(t, nil, "run", "--compare", a, "--json", b), "")
		var c verdict.Comparison
		if err := json.Unmarshal([]byte(o.Stdout), &c); err != nil || c.Before.Verdict != verdict.NoGPU {
			t.Errorf("%v: %+v", err, o)
		}
		os.WriteFile(dir+"/evil", []byte(`{"verdict":"x\u001b[31m","others":[{"evidence":{"step_ms":"y"}}]}`), 0o666)
		for _, args := range [][]string{{a}, {a, b, b}, {a, "/no/such"}, {dir, b}, {a, "--price", "-1", b}, {a, "--replay", b, b}} {
			if o := outcomeOf(t, envfixCommand(t, nil, append([]string{"run", "--compare"}, args...)...), ""); o.Code != 2 {
				t.Errorf("%q: %+v", args, o)
			}
		}
		if o := outcomeOf(t, envfixCommand(t, nil, "run", "--compare", dir+"/evil", b), ""); strings.Contains(o.Stdout, "\x1b") || o.Code != 0 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("what can be tried", func(t *testing.T) {
		for args, want := range map[string]int{"persistent_workers=True": 0, "num_workers=4, persistent_workers=True,pin_memory=False": 0, "persistent_workers=False": 2, "batch_size=9": 2, "num_workers": 2} {
			if o := outcomeOf(t, envfixCommand(t, nil, "run", "--try", args, "--", "true"), ""); o.Code != want {
				t.Errorf("%s: %+v", args, o)
			}
		}
	})
	t.Run("script without first line", func(t *testing.T) {
		plain := filepath.Join(t.TempDir(), "plain")
		os.WriteFile(plain, []byte("echo no first line \"$@\"\nexit 6\n"), 0o777)
		want := outcome{Stdout: "no first line x y\n", Code: 6} // as a shell and execvp do
		if diff := cmp.Diff(want, outcomeOf(t, envfixCommand(t, nil, "run", "--", plain, "x", "y"), "")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("nowhere to write", func(t *testing.T) {
		cmd := envfixCommand(t, []string{"XDG_STATE_HOME=/proc/nowhere"}, "run", "--", "sh", "-c", "echo fine $ENVFIX_PROBE_DIR")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stdout.String() != "fine\n" || !strings.Contains(stderr.String(), "no folder of your own for the probe") {
			t.Errorf("%v: %s%s", err, &stdout, &stderr)
		}
	})
	t.Run("stderr is full", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no /dev/full here")
		}
		defer full.Close()
		cmd := envfixCommand(t, nil, "run", "--", "sh", "-c", "exit 3")
		cmd.Stderr = full
		cmd.Run()
		if c := cmd.ProcessState.ExitCode(); c != 3 {
			t.Errorf("code %d", c)
		}
	})
	t.Run("the report cannot be written", func(t *testing.T) {
		o := outcomeOf(t, envfixCommand(t, nil, "run", "--report", "/no/such/folder/r.json", "--", "true"), "")
		if o.Code != 1 {
			t.Errorf("code %d", o.Code)
		}
		o = outcomeOf(t, envfixCommand(t, nil, "run", "--report", "/no/such/folder/r.json", "--", "sh", "-c", "exit 4"), "")
		if o.Code != 4 {
			t.Errorf("the job's own code comes first: %d", o.Code)
		}
	})
	t.Run("hostile process names", func(t *testing.T) {
		evil := filepath.Join(t.TempDir(), "e) \x1b[31mS 1 1\n2")
		if err := os.Symlink("/bin/sh", evil); err != nil {
			t.Skip(err)
		}
		r, _ := reportOf(t, nil, "--", evil, "-c", "sleep 0.5; exit 0")
		data, _ := json.Marshal(r)
		if bytes.ContainsAny(data, "\x1b\n") || bytes.Contains(data, []byte(`\u001b`)) || len(r.Processes) == 0 {
			t.Errorf("%s", data)
		}
	})
	t.Run("200 processes", func(t *testing.T) {
		r, o := reportOf(t, nil, "--", "sh", "-c", "i=0; while [ $i -lt 200 ]; do sleep 1 & i=$((i+1)); done; wait; echo all")
		if o.Stdout != "all\n" || o.Code != 0 || len(r.Processes) < 150 {
			t.Errorf("%d processes; %+v", len(r.Processes), o)
		}
	})
	t.Run("no probe", func(t *testing.T) {
		o := outcomeOf(t, envfixCommand(t, []string{"PYTHONPATH=/mine"}, "run", "--no-probe", "--", "sh", "-c", "echo $PYTHONPATH $ENVFIX_PROBE_DIR"), "")
		if o.Stdout != "/mine\n" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("what is left behind", func(t *testing.T) {
		dir := t.TempDir()
		outcomeOf(t, envfixCommand(t, []string{"XDG_STATE_HOME=" + dir, "TMPDIR=" + dir}, "run", "--", "true"), "")
		left, _ := filepath.Glob(dir + "/*/*")
		top, _ := os.ReadDir(dir)
		if len(left) != 1 || len(top) != 1 || !strings.HasPrefix(filepath.Base(left[0]), "probe-") { // which children that live on may need
			t.Errorf("%v %v", left, top)
		}
	})
	t.Run("secrets", func(t *testing.T) {
		dir := t.TempDir()
		files := []string{dir + "/r.json", dir + "/s.json", dir + "/p.html"}
		o := outcomeOf(t, envfixCommand(t, []string{"HF_TOKEN=abcdefghijk"}, "run", "--report", files[0], "--save", files[1], "--html", files[2], "--",
			"sh", "-c", "sleep 0.5; echo $2", "x", "--token", "hunter2", "--password=hunter3", "https://me:hunter4@host/x", "abcdefghijk", "hunter"), "")
		if o.Code != 0 || o.Stdout != "hunter2\n" {
			t.Errorf("%+v", o)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil || bytes.Contains(data, []byte("hunter2")) || bytes.Contains(data, []byte("hunter3")) || bytes.Contains(data, []byte("hunter4")) || bytes.Contains(data, []byte("abcdefghijk")) {
				t.Errorf("%s: %v\n%s", f, err, data)
			}
			if !bytes.Contains(data, []byte("hunter")) {
				t.Errorf("%s: the other arguments are lost\n%s", f, data)
			}
		}
	})
	t.Run("links are not followed", func(t *testing.T) {
		dir := t.TempDir()
		victim := filepath.Join(dir, "victim")
		os.WriteFile(victim, []byte("mine"), 0o600)
		for _, flag := range []string{"--report", "--save", "--html"} {
			link := filepath.Join(dir, flag)
			if err := os.Symlink(victim, link); err != nil {
				t.Fatal(err)
			}
			outcomeOf(t, envfixCommand(t, nil, "run", flag, link, "--", "true"), "")
			if st, err := os.Lstat(link); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
				t.Errorf("%s: %v %v", flag, st, err)
			}
		}
		if data, _ := os.ReadFile(victim); string(data) != "mine" {
			t.Errorf("%q", data)
		}
	})
}

// TestRunSignals: a signal for envfix reaches the job, whose answer counts.
func TestRunSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(s.String(), func(t *testing.T) {
			if signal.Ignored(s) {
				t.Skip("this signal is ignored here, as under nohup, and so by every job")
			}
			t.Parallel()
			cmd := envfixCommand(t, nil, "run", "--", "sh", "-c", fmt.Sprintf("trap 'echo caught; exit 9' %d; echo ready; while :; do sleep 0.05; done", int(s)))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // a job that did not end
			var b [64]byte
			n, _ := out.Read(b[:])
			if string(b[:n]) != "ready\n" {
				t.Fatalf("%q", b[:n])
			}
			cmd.Process.Signal(s)
			rest := new(bytes.Buffer)
			rest.ReadFrom(out)
			cmd.Wait()
			if rest.String() != "caught\n" || cmd.ProcessState.ExitCode() != 9 {
				t.Errorf("%q, code %d", rest, cmd.ProcessState.ExitCode())
			}
		})
	}
}

// traceLibrary builds the stand-in that plays samples.
func traceLibrary(t *testing.T) string {
	t.Helper()
	if !gpu.HasNVML() {
		t.Skip("this build cannot load NVIDIA's library")
	}
	dir, err := tracePlayer()
	if err != nil {
		t.Skipf("no C compiler for the stand-in library: %v", err)
	}
	return dir + "/libnvidia-ml.so.1"
}

var tracePlayer = made("nvmltrace", func(dir string) error {
	return execute(nil, "cc", "-shared", "-fPIC", "-o", dir+"/libnvidia-ml.so.1", "testdata/nvmltrace.c")
})

// TestRunGPU: through the real child and dlopen, a job that only sleeps beside
// recorded GPUs.
func TestRunGPU(t *testing.T) {
	lib := traceLibrary(t)
	dir, err := filepath.Abs("../../internal/observe/verdict/testdata")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ trace, want, note string }{
		{"healthy", verdict.Healthy, "told apart"},
		{"loader_bound", verdict.LoaderBound, ""},
		{"one_of_four", verdict.OneGPUOfN, ""},
		{"other_process", verdict.OtherProcess, ""},
		{"never_used", verdict.NotTraining, ""},
		{"no_util_mig_or_wsl", verdict.Healthy, "utilisation is not measurable"},
	}
	for _, tt := range tests {
		t.Run(tt.trace, func(t *testing.T) {
			t.Parallel()
			r, o := reportOf(t, []string{"ENVFIX_NVML=" + lib, "FAKE_NVML_TRACE=" + filepath.Join(dir, tt.trace+".csv")}, "--", "sleep", "3")
			if r.Verdict != tt.want || o.Code != 0 {
				t.Errorf("%s (%s), want %s", r.Verdict, r.Text, tt.want)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), tt.note) {
				t.Errorf("notes: %q", r.Notes)
			}
			for _, g := range r.GPUs {
				if g.Name == "" || g.MemoryTotal != 143771 || (g.UtilMean == nil) != (tt.trace == "no_util_mig_or_wsl") {
					t.Errorf("%+v", g)
				}
			}
		})
	}
}
