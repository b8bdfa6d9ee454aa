//go:build unix

package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// steps times a bare loop of loader and optimizer and prints nanoseconds a step.
// The stand-in for torch computes nothing, so what remains is the hooks.
const steps = `
import time, torch
from torch.utils.data import DataLoader
from torch.optim.optimizer import Optimizer
class DS:
    def __len__(s): return 20000
    def __getitem__(s, i): return i
opt = Optimizer([torch.Tensor(10, 10)])
ld = DataLoader(DS(), batch_size=1)
start = time.perf_counter_ns()
for x in ld:
    opt.step()
print((time.perf_counter_ns() - start) // 20000)
`

// BenchmarkProbe reports what the probe in a job's Python costs: µs/step in a loop
// that does nothing else (the study allows 10), and milliseconds of processor and
// of wall time at the start of Python (2), each as the difference to the same run
// without it.
func BenchmarkProbe(b *testing.B) {
	l, err := newLane(Options{State: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	fake, err := filepath.Abs("testdata/fake")
	if err != nil {
		b.Fatal(err)
	}
	bare := append(os.Environ(), "PYTHONPATH="+fake, "PYTHONDONTWRITEBYTECODE=1")
	probed := append(l.environment(bare, Options{}), "PYTHONDONTWRITEBYTECODE=1")
	real, err := exec.Command(python(b), "-c", "import sys; print(sys.executable)").Output() // not a version manager's shim
	if err != nil {
		b.Fatal(err)
	}
	program := strings.TrimSpace(string(real))
	run := func(env []string, script string) (string, took) {
		cmd := exec.Command(program, "-")
		cmd.Env, cmd.Stdin = env, strings.NewReader(script)
		begun := time.Now()
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return strings.TrimSpace(string(out)), took{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(begun)}
	}
	step := func(env []string) float64 {
		out, _ := run(env, steps)
		ns, err := strconv.Atoi(out)
		if err != nil {
			b.Fatal(err)
		}
		return float64(ns) / 1000
	}
	long := took{time.Hour, time.Hour}
	with, without, start, plain := 1e9, 1e9, long, long // the least of all runs: the machine is shared
	for b.Loop() {
		with, without = min(with, step(probed)), min(without, step(bare))
		_, s := run(probed, "pass")
		_, p := run(bare, "pass")
		start, plain = start.least(s), plain.least(p)
	}
	b.ReportMetric(with-without, "µs/step")
	b.ReportMetric(float64((start.cpu-plain.cpu).Microseconds())/1000, "ms-CPU/start")
	b.ReportMetric(float64((start.wall-plain.wall).Microseconds())/1000, "ms-wall/start")
	b.ReportMetric(float64(start.cpu)/float64(plain.cpu), "×python-start")
}

// A took is what a run took.
type took struct{ cpu, wall time.Duration }

func (t took) least(u took) took { return took{min(t.cpu, u.cpu), min(t.wall, u.wall)} }
