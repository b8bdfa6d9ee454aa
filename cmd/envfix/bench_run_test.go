//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

// crowd is a job of 16 processes that do nothing for half a minute.
const crowd = "i=1; while [ $i -lt 16 ]; do sleep 30 & i=$((i+1)); done; wait"

// BenchmarkSampler prints what watching a job of 16 processes costs: the processor
// time of `envfix run` and of its child that reads the GPUs, in the first ten
// seconds, when new processes are looked for most often, and after them; and the
// memory. Beside them stands top, which looks at all processes as often.
func BenchmarkSampler(b *testing.B) {
	program := filepath.Join(b.TempDir(), "envfix")
	build := exec.Command("go", "build", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	env := []string{"ENVFIX_NVML=off"}
	if lib := filepath.Join(b.TempDir(), "libnvidia-ml.so.1"); exec.Command("cc", "-shared", "-fPIC", "-o", lib, "testdata/nvmltrace.c").Run() == nil {
		trace, err := filepath.Abs("../../internal/observe/verdict/testdata/one_of_four.csv")
		if err != nil {
			b.Fatal(err)
		}
		env = []string{"ENVFIX_NVML=" + lib, "FAKE_NVML_TRACE=" + trace}
	} else {
		fmt.Println("left out, no C compiler: the child that reads four GPUs")
	}
	for b.Loop() {
		b.StopTimer()
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "\n16 processes, 5 looks a second\t% of a core, first 10 s\tafter\tMB\tof these its own\tat its start\tgoal")
		samplerRow(b, w, "envfix run", "0.5 %, 20 MB", append(os.Environ(), env...), program, "run", "--", "sh", "-c", crowd)
		if _, err := exec.LookPath("top"); err != nil {
			fmt.Println("left out, not on this machine: top")
		} else {
			samplerRow(b, w, "top -b -d 0.2", "", os.Environ(), "top", "-b", "-d", "0.2")
		}
		w.Flush()
		fmt.Printf("on %s. The rest of the memory is the program's and the C library's files,\nwhich all processes share; a kernel that keeps a file just written in large pages maps these whole.\n\n", here())
		b.StartTimer()
	}
	b.ReportMetric(0, "ns/op")
}

// samplerRow runs a program for 18 seconds and prints what it and its child of
// the GPUs took; the job's own processes do not count.
func samplerRow(b *testing.B, w io.Writer, name, goal string, env []string, argv ...string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	time.Sleep(time.Second) // the start is another row's
	pids := []int{cmd.Process.Pid}
	for _, kid := range children(cmd.Process.Pid) {
		if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", kid)); strings.Contains(string(text), "__nvmlsample") {
			pids = append(pids, kid)
		}
	}
	used := func(over time.Duration) float64 {
		before := ranFor(pids)
		time.Sleep(over)
		return 100 * float64(ranFor(pids)-before) / float64(over)
	}
	early := used(9 * time.Second)
	late := used(8 * time.Second)
	memory := func(pid int) string {
		return fmt.Sprintf("%.1f\t%.1f\t%.1f", memoryNow(pid, "VmRSS"), memoryNow(pid, "RssAnon"), memoryNow(pid, "VmHWM"))
	}
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%s\t%s\n", name, early, late, memory(pids[0]), goal)
	if len(pids) > 1 {
		fmt.Fprintf(w, "  its child that reads 4 GPUs\tcounted above\t\t%s\t\n", memory(pids[1]))
	}
}

func children(pid int) (out []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, l := range lists {
		text, _ := os.ReadFile(l)
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// ranFor is how long all threads of processes were on a processor.
func ranFor(pids []int) (total time.Duration) {
	for _, pid := range pids {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, f := range files {
			var ns int64
			text, _ := os.ReadFile(f)
			fmt.Sscan(string(text), &ns)
			total += time.Duration(ns)
		}
	}
	return total
}

// memoryNow is a line of /proc/PID/status in MB.
func memoryNow(pid int, field string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			var kib float64
			fmt.Sscan(v, &kib)
			return kib * 1024 / 1e6
		}
	}
	return 0
}
