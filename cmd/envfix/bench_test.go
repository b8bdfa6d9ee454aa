package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/testindex"
	"envfix/matrix"
	"envfix/resolver"
)

// A benchRow is one row of the table: a whole process, as people wait for it.
type benchRow struct {
	name string
	goal string // what was set out for; empty: nothing was
	env  []string
	argv []string

	wall, cpu []float64 // ms
}

// BenchmarkProcesses prints one table: whole processes, each run once a round so
// that a busy machine slows all alike, beside `python3 -c pass`, `uv --version`
// and /bin/true. No run is left out: median and least wall time, median processor
// time, and the memory of one more run. -benchtime 20x is 20 rounds.
func BenchmarkProcesses(b *testing.B) {
	rows := processes(b)
	for i := range rows { // the page cache, once
		rows[i].run(b, false)
	}
	for b.Loop() {
		for i := range rows {
			rows[i].run(b, true)
		}
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	printTable(b, rows)
}

// processes lists what is timed; what is not on this machine is said and left out.
func processes(b *testing.B) []benchRow {
	dir := b.TempDir()
	program := filepath.Join(dir, "envfix")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS=-ldflags=-extldflags=-Wl,-z,lazy -tags=urfave_cli_no_docs", "CGO_CFLAGS=-Wno-deprecated-declarations")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	v100, err := filepath.Abs("testdata/machines/v100-server-580.json")
	if err != nil {
		b.Fatal(err)
	}
	paste := filepath.Join(dir, "paste.log")
	if err := os.WriteFile(paste, []byte(longPaste(10<<20)), 0o600); err != nil {
		b.Fatal(err)
	}
	off := []string{"ENVFIX_NVML=off"}
	rows := []benchRow{
		{name: "envfix --version", env: off, argv: []string{program, "--version"}},
		{name: "envfix plan, no library", goal: "20 ms 30 MB", env: off, argv: []string{program, "plan"}},
		{name: "envfix plan --facts", goal: "20 ms 30 MB", env: off, argv: []string{program, "plan", "--facts", v100}},
		{name: "envfix facts, no library", goal: "15 ms", env: off, argv: []string{program, "facts"}},
		{name: "envfix doctor --facts", goal: "200 ms", env: off, argv: []string{program, "doctor", "--facts", v100}},
		{name: "envfix doctor, 10 MB paste", goal: "300 ms", env: off, argv: []string{program, "doctor", "--from", paste}},
		{name: "envfix explain, one line", env: off, argv: []string{program, "explain", "CUDA out of memory"}},
		{name: "/bin/true", argv: []string{"/bin/true"}},
		{name: "python3 -c pass", argv: []string{"/usr/bin/python3", "-c", "pass"}}, // not a shim that is a shell script
		{name: "uv --version", argv: []string{"uv", "--version"}},
	}
	if uv, err := testindex.FindUV(); err == nil { // the program itself, not a shim
		rows[len(rows)-1].argv[0] = uv
		rows = append(rows, resolvesOffline(b, uv)...)
	}
	if libs, err := standIns(); err != nil {
		fmt.Printf("left out, with the stand-in NVIDIA library: %v\n", err)
	} else {
		b.Cleanup(func() { os.RemoveAll(libs) })
		env := []string{"ENVFIX_NVML=" + filepath.Join(libs, "libnvidia-ml.so.1"), "FAKE_NVML_DRIVER=580.95.05", "FAKE_NVML_GPUS=NVIDIA L4,8,9"}
		rows = slices.Insert(rows, 2, benchRow{name: "envfix plan, stand-in", goal: "30 ms", env: env, argv: []string{program, "plan"}})
		rows = slices.Insert(rows, 5, benchRow{name: "envfix facts, stand-in", env: env, argv: []string{program, "facts"}})
	}
	return slices.DeleteFunc(rows, func(t benchRow) bool {
		_, err := exec.LookPath(t.argv[0])
		if err != nil {
			fmt.Printf("left out, not on this machine: %s\n", t.name)
		}
		return err != nil
	})
}

// resolvesOffline is what uv does where envfix plans: it finds the packages of torch
// with what it has cached. It is left out where nothing is cached.
func resolvesOffline(b *testing.B, uv string) []benchRow {
	env := filepath.Join(b.TempDir(), "env")
	argv := []string{uv, "pip", "install", "--python", env, "--dry-run", "--offline", "torch"}
	for _, first := range [][]string{{uv, "venv", "--offline", env}, argv} {
		if out, err := exec.Command(first[0], first[1:]...).CombinedOutput(); err != nil {
			fmt.Printf("left out, uv pip install --dry-run torch --offline: %s\n", lastLine(string(out)))
			return nil
		}
	}
	return []benchRow{{name: "uv pip install --dry-run torch --offline", argv: argv}}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// run starts the process and waits for it. Exit codes 1 and 12 are answers too:
// doctor's where something is amiss, and where that could not be told.
func (t *benchRow) run(b *testing.B, count bool) {
	cmd := exec.Command(t.argv[0], t.argv[1:]...)
	cmd.Env = append(os.Environ(), t.env...)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != fail.Failed && code != fail.Unknown {
		b.Fatal(fmt.Errorf("%s: %w", t.name, err))
	}
	if count {
		p := cmd.ProcessState
		t.wall = append(t.wall, ms(took))
		t.cpu = append(t.cpu, ms(p.UserTime()+p.SystemTime()))
	}
}

// memoryOf runs a program and prints the KiB that it took at most and its page
// faults. Python does it, because this program's own memory would be the least that
// it could see.
const memoryOf = `import os, sys
null = os.open(os.devnull, os.O_RDWR)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)])
used = os.wait4(pid, 0)[2]
print(used.ru_maxrss, used.ru_minflt + used.ru_majflt)`

// memory is the greatest resident memory of the process, in MB, and its page faults.
func (t *benchRow) memory() (mb, faults string) {
	cmd := exec.Command("/usr/bin/python3", append([]string{"-c", memoryOf}, t.argv...)...)
	cmd.Env = append(os.Environ(), t.env...)
	var kib int64
	if out, err := cmd.Output(); err != nil {
		return "-", "-"
	} else if _, err := fmt.Sscan(string(out), &kib, &faults); err != nil {
		return "-", "-"
	}
	return fmt.Sprintf("%.0f", float64(kib)*1024/1e6), faults
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

func printTable(b *testing.B, rows []benchRow) {
	python, uv := math.NaN(), math.NaN()
	for _, t := range rows {
		switch t.name {
		case "python3 -c pass":
			python = median(t.wall)
		case "uv --version":
			uv = median(t.wall)
		}
	}
	fmt.Println()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "whole process\tms\tleast\tcpu\tMB\tfaults\t×python\t×uv\tgoal")
	for _, t := range rows {
		wall := median(t.wall)
		mb, faults := t.memory()
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%s\t%s\t%s\t%s\t%s\n", t.name, wall, slices.Min(t.wall), median(t.cpu),
			mb, faults, ratio(wall, python), ratio(wall, uv), t.goal)
	}
	alone := resolveAlone(b)
	fmt.Fprintf(w, "resolving alone, in process\t%.1f\t%.1f\t\t\t\t%s\t%s\t5 ms\n", median(alone), slices.Min(alone), ratio(median(alone), python), ratio(median(alone), uv))
	w.Flush()
	fmt.Printf("ms: median wall time of %d rounds on %s; cpu: median of user and system.\nMB and faults: greatest resident memory and page faults of one run; none can show less than /bin/true does,\nbecause the kernel counts the moment between fork and exec.\n\n", len(rows[0].wall), here())
}

// ratio says how many times as long; nothing where there is nothing to compare with.
func ratio(wall, than float64) string {
	if math.IsNaN(than) {
		return "-"
	}
	return fmt.Sprintf("%.2f", wall/than)
}

// here is the machine's load, which every figure hangs on.
func here() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "this machine"
	}
	return "a machine with a load of " + strings.Fields(string(text))[0]
}

// resolveAlone resolves the machine of `plan --facts` as often as a process was
// run, each time with nothing remembered.
func resolveAlone(b *testing.B) []float64 {
	m := matrix.Embedded()
	text, err := os.ReadFile("testdata/machines/v100-server-580.json")
	if err != nil {
		b.Fatal(err)
	}
	h, err := machine.Decode(text)
	if err != nil {
		b.Fatal(err)
	}
	var all []float64
	for range 21 {
		start := time.Now()
		if _, err := resolver.Resolve(m, h, resolver.Request{}); err != nil {
			b.Fatal(err)
		}
		all = append(all, ms(time.Since(start)))
	}
	return all
}

// longPaste is n bytes of an ordinary training log, with the words of our field in
// every line.
func longPaste(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "[rank0]: step %d loss 0.%d lr 1e-4 throughput 123 samples/s mem 12.3 GiB torch.cuda ok\n", i, i%977)
		fmt.Fprintf(&b, "2026-01-01 10:00:%02d INFO trainer: epoch %d batch done CUDA device 0 NVIDIA A100\n", i%60, i)
	}
	return b.String()
}
