//go:build unix

package observe

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/observe/verdict"

	"github.com/google/go-cmp/cmp"
)

// python is the interpreter for tests of the probe.
func python(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH: the probe is not tested here")
	}
	return p
}

// A probed is what a script did with the probe in it.
type probed struct {
	stdout, stderr string
	code           int
	page           rawPage
	hasPage        bool
	probe          *verdict.Probe
}

// runProbed runs a script with the stand-in for torch and the probe.
func runProbed(t testing.TB, script string, env ...string) probed {
	t.Helper()
	l, err := newLane(Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	fake, err := filepath.Abs("testdata/fake")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python(t), "-")
	cmd.Stdin = strings.NewReader(script)
	path := "PYTHONPATH=" + fake
	for i, e := range env {
		if v, ok := strings.CutPrefix(e, "PYTHONPATH="); ok {
			path = "PYTHONPATH=" + v + ":" + fake
			env = append(env[:i:i], env[i+1:]...)
			break
		}
	}
	cmd.Env = append(l.environment(append(os.Environ(), path), Options{}), append([]string{"PYTHONDONTWRITEBYTECODE=1", "TZ=UTC"}, env...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	out := probed{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	for _, p := range l.files("page") {
		out.page, out.hasPage = readPage(p)
	}
	for _, p := range l.files("jsonl") {
		out.probe = readEvents(p)
	}
	return out
}

// train is a loop of the usual shape: 64 samples, 8 a batch, three epochs.
const train = `
import torch
from torch.utils.data import DataLoader
from torch.optim.optimizer import Optimizer
class DS:
    def __len__(s): return 64
    def __getitem__(s, i): return torch.Tensor(3, 4)
opt = Optimizer([torch.Tensor(10, 10)])
torch.cuda.is_available()
ld = DataLoader(DS(), batch_size=8)
kinds = set()
for epoch in range(3):
    it = iter(ld)
    kinds.add(type(it).__name__)
    for x in it:
        x[0].to("cuda"); x[0].item(); float(x[0]); x[1].item()
        with torch.autocast("cuda"), torch.autocast("cuda", enabled=False): pass
        x[3].backward()
        opt.step()
print("done", sorted(kinds), "to" in vars(torch.Tensor), torch.Tensor.to.__name__, torch.Tensor.item.__name__)
`

func TestProbeCounts(t *testing.T) {
	r := runProbed(t, train)
	if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, "done ['_BaseDataLoaderIter'] True to item") {
		t.Fatalf("code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if !r.hasPage {
		t.Fatal("no page")
	}
	got := []uint64{r.page[wSteps], r.page[wBatches], r.page[wEpochs], r.page[wWarm], r.page[wErr]}
	if diff := cmp.Diff([]uint64{24, 24, 3, 3, 0}, got); diff != "" {
		t.Error(diff)
	}
	p := r.probe
	if p == nil {
		t.Fatal("no events")
	}
	if !filepath.IsAbs(p.Prefix) {
		t.Errorf("prefix %q", p.Prefix)
	}
	p.Prefix = ""
	p.Where, p.Loaders[0].Data = nil, 0 // measured
	want := &verdict.Probe{Version: "9.9.9+fake", CUDA: "13.2", SaidNo: true, Params: map[string]int64{"cpu/torch.float32": 100}, Matrices: 100, Matmul: "highest",
		Loaders: []verdict.Loader{{Batch: 8, Where: "<stdin>:10", Own: "<stdin>:10", Trains: true}}, Made: 1, Batch: &verdict.Tensor{Shape: []int{3, 4}, Type: "torch.float32"}, Tensors: 8,
		Burst: &verdict.Burst{Steps: 5, Passes: 5, Copies: 5, Syncs: 10, Autocast: 5, OnCPU: true, CopyAt: "<stdin>:16", CopyOwn: "<stdin>:16", SyncAt: "<stdin>:16", SyncOwn: "<stdin>:16"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	pg := r.page.page(clock{}, 0)
	if pg.Warm != 21 || pg.Step <= 0 || pg.Load <= 0 || pg.Load > pg.Step || pg.LoadSeen < pg.Load/10 || pg.StepP50 <= 0 {
		t.Errorf("page: %+v", pg)
	}
}

// TestFirstBatches: where no worker starts, an epoch's first batch is waited for like any
// other, so that short epochs hide nothing.
func TestFirstBatches(t *testing.T) {
	clock := "import itertools, torch, _envfix_look, _envfix_probe as P\n_envfix_look.end()\nP.now = itertools.count(1).__next__\n" // each wait takes one
	for workers, want := range map[string]uint64{"0": 23, "2": 21} {
		r := runProbed(t, clock+strings.Replace(train, "batch_size=8", "batch_size=8, num_workers="+workers, 1))
		if got := r.page[wLoad]; got != want || r.stderr != "" {
			t.Errorf("%s workers: %d of 24 waits, want %d\n%s", workers, got, want, r.stderr)
		}
	}
}

// TestBurstByHand: the reads of a loop that updates its parameters itself are counted too,
// once no optimizer can come any more.
func TestBurstByHand(t *testing.T) {
	for epochs, want := range map[string]int{"2": 0, "6": 5} {
		r := runProbed(t, strings.NewReplacer("opt.step()", "pass", "range(3)", "range("+epochs+")").Replace(train))
		b := r.probe.Burst
		if b == nil {
			b = &verdict.Burst{}
		}
		if b.Steps != want || r.stderr != "" || b.Syncs != 2*want {
			t.Errorf("%s epochs: burst of %d, want %d, reads %d\n%s", epochs, b.Steps, want, b.Syncs, r.stderr)
		}
	}
}

// TestProbeFaults: whatever happens to the probe, the job ends as without it.
func TestProbeFaults(t *testing.T) {
	gone := "import os, shutil\n"
	tests := []struct{ name, before string }{
		{"folder gone before torch", gone + "shutil.rmtree(os.environ['ENVFIX_PROBE_DIR'])\n"},
		{"folder gone after torch", "import torch\n" + gone + "shutil.rmtree(os.environ['ENVFIX_PROBE_DIR'])\n"},
		{"page cannot be made", "import torch\n" + gone + "d=os.environ['ENVFIX_PROBE_DIR']\nos.mkdir('%s/p%d.page' % (d, os.getpid()))\n"},
		{"a hook raises", "import torch, _envfix_probe\n_envfix_probe.config = None\n"},
		{"the burst raises", "import torch, _envfix_probe\n_envfix_probe.line = None\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := runProbed(t, tt.before+train)
			if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, "done ['_BaseDataLoaderIter']") {
				t.Errorf("code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			if r.hasPage && r.page[wErr] != 1 {
				t.Errorf("errors counted: %d", r.page[wErr])
			}
		})
	}
}

// TestProbePrecision: what products of matrices use, by the setting that the job
// took; asking for the old one is an error once the new one was used.
func TestProbePrecision(t *testing.T) {
	for set, want := range map[string]string{"pass": "highest", "del torch._C._get_fp32_precision_getter": "highest", "m.fp32_precision = 'tf32'": "high", "m.fp32_precision = 'ieee'": "highest",
		"m.fp32_precision = 'none'; torch.backends.fp32_precision = 'tf32'": "high"} {
		r := runProbed(t, "import torch\nm = torch.backends.cuda.matmul\n"+set+train)
		if r.code != 0 || r.probe == nil || r.probe.Matmul != want || r.page[wErr] != 0 {
			t.Errorf("%s: %+v, %d errors\n%s", set, r.probe, r.page[wErr], r.stderr)
		}
	}
}

// TestProbeOldTorch: before 2.0 there is no hook for all optimizers.
func TestProbeOldTorch(t *testing.T) {
	r := runProbed(t, `
import sys, types
sys.modules["torch.optim.optimizer"] = old = types.ModuleType("torch.optim.optimizer")
class Optimizer:
    def __init__(self, params): self.param_groups = [{"params": list(params)}]
old.Optimizer = Optimizer
import torch
class SGD(Optimizer):
    def step(self, closure=None): return "stepped"
class Adam(SGD):
    pass
one, two, three = SGD([torch.Tensor(2)]), SGD([]), Adam([])
for i in range(6): print(one.step(), two.step(), three.step())
`)
	if !strings.HasPrefix(r.stdout, "stepped stepped stepped\n") || r.page[wSteps] != 6 || r.page[wErr] != 0 {
		t.Errorf("%d steps, %d errors\n%s%s", r.page[wSteps], r.page[wErr], r.stdout, r.stderr)
	}
}

// TestProbeLooks: what the loop does beside its steps is seen by line and by kind, with
// nothing of the probe in it; a function says by its name what it is for, a library by
// its place; the collector tells its own time.
func TestProbeLooks(t *testing.T) {
	for extra, part := range map[string]string{
		"[i * i for i in range(400000)]":               "python",
		"log_all()":                                    "logging",
		"json.dump(list(range(30000)), io.StringIO())": "logging",
		"print(x[0].printed(), file=io.StringIO())":    "logging",
	} {
		begin := "import json, io\ndef log_all(): sum(i for i in range(400000))\n"
		r := runProbed(t, begin+strings.Replace(train, "opt.step()", "opt.step(); "+extra, 1))
		if r.probe == nil || r.probe.Where == nil || r.page[wErr] != 0 {
			t.Fatalf("%+v\n%s", r.probe, r.stderr)
		}
		w := r.probe.Where
		if 2*w.Parts[part] < w.Seen || len(w.Top) == 0 || w.Top[0].Part != part || !strings.HasPrefix(w.Top[0].At, "<stdin>:") || strings.Contains(w.Top[0].Call, "envfix") {
			t.Errorf("%s: %+v", part, w)
		}
	}
	r := runProbed(t, "import gc\nkept = [[] for _ in range(300000)]\n"+strings.Replace(train, "opt.step()", "opt.step(); gc.collect()", 1))
	if w := r.probe.Where; w == nil || 2*w.Parts["gc"] < w.Seen || w.GCTimes < 10 || w.GCAt != "<stdin>:21" {
		t.Errorf("%+v", w)
	}
}

// TestProbeLoaders: the batches of a loader for validation are no training's, and
// optimizers that take turns make one step together.
func TestProbeLoaders(t *testing.T) {
	loop := strings.Replace(train, "opt.step()", "opt.step(); other.step()", 1) + "    for x in check: pass\n"
	loop = strings.Replace(loop, "kinds = set()", "kinds, check, other = set(), DataLoader(DS(), batch_size=4), Optimizer([])", 1)
	loop = strings.Replace(loop, "print(", "for _ in (): print(", 1)
	r := runProbed(t, strings.Replace(loop, "for _ in (): print(\"done\", sorted(kinds), \"to\" in vars(torch.Tensor), torch.Tensor.to.__name__, torch.Tensor.item.__name__)\n", "", 1))
	if r.code != 0 || r.page[wSteps] != 24 || r.page[wBatches] != 24 || r.page[wErr] != 0 {
		t.Errorf("%d steps, %d batches, %d errors\n%s", r.page[wSteps], r.page[wBatches], r.page[wErr], r.stderr)
	}
}

// TestProbeHolds: what forked workers would share, what changes between epochs and
// workers that start anew are seen before more of them are proposed.
func TestProbeHolds(t *testing.T) {
	quiet := strings.Replace(train, "print(", "0 and print(", 1)
	for name, tt := range map[string]struct{ old, with, held, then string }{
		"a file":     {"def __len__", "def __init__(s): s.f, s.n = open(__import__('os').__file__, 'rb'), 0\n    def __len__", "io.BufferedReader", ""},
		"a global":   {"def __getitem__(s, i): return", "def __getitem__(s, i): return (db, 1) and", "sqlite3.Connection", ""},
		"a log":      {"def __len__", "def __init__(s): s.f, s.n = open(__import__('os').devnull, 'w'), 0\n    def __len__", "", ""},
		"its change": {"it = iter(ld)", "ld.dataset.level = epoch; it = iter(ld)", "", "changes"},
		"each item":  {"def __getitem__(s, i): return", "def __getitem__(s, i): s.n = i; return", "", ""},
		"spawned":    {"import torch\n", "import torch, multiprocessing\nmultiprocessing.set_start_method('spawn')\n", "", "anew"},
	} {
		r := runProbed(t, "import sqlite3\ndb = sqlite3.connect(':memory:')\n"+strings.Replace(quiet, tt.old, tt.with, 1))
		if r.code != 0 || r.probe == nil || len(r.probe.Loaders) == 0 || r.page[wErr] != 0 {
			t.Fatalf("%s: %s", name, r.stderr)
		}
		if l := r.probe.Loaders[0]; l.Held != tt.held || l.Changes != (tt.then == "changes") || l.Anew != (tt.then == "anew") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestProbeCalls: for a few steps it counts how often a model is called, as most of its
// modules are, and leaves no hook.
func TestProbeCalls(t *testing.T) {
	r := runProbed(t, `
import sys, types
module, hooks = types.ModuleType("torch.nn.modules.module"), []
class Handle:
    def remove(s): hooks.clear()
module.register_module_forward_pre_hook = lambda f: hooks.append(f) or Handle()
sys.modules["torch.nn.modules.module"] = module
`+strings.Replace(strings.Replace(train, "opt.step()", "[f(m, ()) for f in hooks for m in (opt, DS, torch, torch)]; opt.step()", 1), "print(", "print(len(hooks)) or 0 and print(", 1))
	if b := r.probe.Burst; r.stdout != "0\n" || b == nil || b.Calls != b.Steps {
		t.Errorf("%q %+v\n%s", r.stdout, b, r.stderr)
	}
}

// TestProbeUnits: without an optimizer the steps are backward passes, without those
// batches.
func TestProbeUnits(t *testing.T) {
	for unit, loop := range map[string]string{
		verdict.EachBackward: strings.Replace(train, "opt.step()", "pass", 1),
		verdict.EachBatch:    strings.Replace(strings.Replace(train, "opt.step()", "pass", 1), "x[3].backward()", "pass", 1),
	} {
		r := runProbed(t, loop)
		if p := r.page.page(clock{}, 0); p.Unit != unit || p.Steps != 24 || p.Warm != 21 || r.page[wErr] != 0 {
			t.Errorf("%s: %+v\n%s", unit, p, r.stderr)
		}
	}
}

// TestProbeHides: an error that passes through the probe shows none of it.
func TestProbeHides(t *testing.T) {
	r := runProbed(t, "import traceback\n"+strings.Replace(train, "return torch.Tensor(3, 4)", "raise ValueError('mine')", 1))
	if r.code != 1 || !strings.HasSuffix(r.stderr, "ValueError: mine\n") || strings.Contains(r.stderr, "_envfix") {
		t.Errorf("code %d\n%s", r.code, r.stderr)
	}
}

// TestProbeMoves: without a GPU the moves of a step are counted as they would be
// with one: a library moves a batch that another has moved, and copies nothing; a
// constant that is moved again and again is copied each time.
func TestProbeMoves(t *testing.T) {
	loop := strings.Replace(train, "opt.step()", "x[0].to(\"cuda\")\n        for i in range(4): const.to(device=\"cuda\")\n        opt.step()", 1)
	r := runProbed(t, "import torch\nconst = torch.Tensor(2)\n"+loop)
	if r.probe == nil || r.probe.Burst == nil || r.probe.Burst.Copies != 5*(1+4) {
		t.Errorf("%+v\n%s", r.probe, r.stderr)
	}
}

// TestProbeAccumulates: a step may be one of several batches, and a batch may have
// more than one loss.
func TestProbeAccumulates(t *testing.T) {
	steps := "n = globals().get('n', 0) + 1\n        if n % 4 == 0: opt.step()"
	loop := strings.Replace(train, "opt.step()", steps, 1)
	loop = strings.Replace(loop, "range(3)", "range(12)", 1)
	r := runProbed(t, strings.Replace(loop, "x[3].backward()", "x[3].backward(); x[4].backward()", 1))
	if r.probe == nil || r.probe.Burst == nil || r.page[wSteps] != 24 || r.page[wErr] != 0 {
		t.Fatalf("%+v, %d errors\n%s", r.probe, r.page[wErr], r.stderr)
	}
	if b := r.probe.Burst; b.Steps != 5 || b.Passes != 20 || b.Copies != 20 {
		t.Errorf("%+v", b)
	}
}

// TestProbeEpochs: an epoch counts when it begins, for a loop that counts its
// batches never asks for one after the last.
func TestProbeEpochs(t *testing.T) {
	r := runProbed(t, strings.Replace(train, "for x in it:", "for _ in range(8):\n        x = next(it)", 1))
	if r.page[wEpochs] != 3 || r.page[wBatches] != 24 || r.page[wErr] != 0 {
		t.Errorf("%d epochs, %d batches, %d errors\n%s", r.page[wEpochs], r.page[wBatches], r.page[wErr], r.stderr)
	}
}

// TestProbeParallel: what wraps a model for several GPUs or ranks is named, and
// the probe stays.
func TestProbeParallel(t *testing.T) {
	r := runProbed(t, "import torch\nP = torch.nn.parallel\nP.DistributedDataParallel(1)\ntorch.nn.DataParallel(1)\n"+train)
	if r.probe == nil || r.probe.Error != "" || r.page[wErr] != 0 {
		t.Fatalf("%+v, %d errors\n%s", r.probe, r.page[wErr], r.stderr)
	}
	if diff := cmp.Diff([]string{"DistributedDataParallel", "DataParallel"}, r.probe.Parallel); diff != "" {
		t.Error(diff)
	}
}

func TestProbeCrash(t *testing.T) {
	r := runProbed(t, "import torch\nraise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB.')")
	if r.code != 1 || !strings.HasSuffix(r.stderr, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.\n") || strings.Contains(r.stderr, "_envfix") {
		t.Errorf("code %d\n%s", r.code, r.stderr)
	}
	if diff := cmp.Diff(&verdict.Crash{Type: "RuntimeError", Text: "CUDA out of memory. Tried to allocate 2.00 GiB."}, r.probe.Crash); diff != "" {
		t.Error(diff)
	}
}

// TestMemoryErrorBeforeTorch: memory that runs out before torch is imported is told.
func TestMemoryErrorBeforeTorch(t *testing.T) {
	r := runProbed(t, "bytearray(1 << 62)")
	if r.code != 1 || !strings.HasSuffix(r.stderr, "\nMemoryError\n") || strings.Contains(r.stderr, "customize") || r.probe == nil || r.probe.Crash == nil || r.probe.Crash.Type != "MemoryError" {
		t.Errorf("code %d, %+v\n%s", r.code, r.probe, r.stderr)
	}
	if r = runProbed(t, "import sys\nraise ValueError"); r.code != 1 || r.probe != nil {
		t.Errorf("code %d, %+v\n%s", r.code, r.probe, r.stderr)
	}
}

// TestProbeForks: a forked child writes its own page.
func TestProbeForks(t *testing.T) {
	r := runProbed(t, train+`
import os, sys
sys.stdout.flush()
pid = os.fork()
for i in range(2): opt.step()
if pid == 0:
    import _envfix_probe as P
    print("child", P.C[P.STEPS], os.path.getsize("%s/p%d.page" % (P.DIR, os.getpid())) == 4096); sys.stdout.flush(); os._exit(0)
os.waitpid(pid, 0)
import _envfix_probe as P
print("parent", P.C[P.STEPS])
`)
	if !strings.Contains(r.stdout, "child 2 True\n") || !strings.Contains(r.stdout, "parent 26\n") || r.code != 0 {
		t.Errorf("code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestProbeEvaluates: a model evaluates from eval() to train(), also where its class has an
// eval() of its own. One that no optimizer trains, a teacher or a target, is part of each step.
// The modules below it are asked nothing.
func TestProbeEvaluates(t *testing.T) {
	r := runProbed(t, `
import torch, _envfix_probe as P
asked = []
class Layer(torch.nn.Module):
    def parameters(self):
        asked.append(self)
        return self.params
class Net(Layer):
    def train(self, mode=True): return super().train(mode)
    def eval(self): return self.train(False)
m, plain = torch.nn.Module(), torch.nn.Module.train
m.eval(); m.eval()
print(P.S["evals"], torch.nn.Module.train is plain)
def train(): m.train()
train()
print(P.S["evals"], torch.nn.Module.train is plain)
m.params, teacher = [torch.Tensor(1)], torch.nn.Module()
torch.optim.optimizer.Optimizer(m.params).step()
teacher.eval()
print(P.S["evals"])
m.eval()
print(P.S["evals"])
m.train(mode=True)
print(P.S["evals"])
net, m.kids = Net(), [Layer() for _ in range(3)]
net.params, net.kids = m.params, [m]
for n in (net, *m.kids): n.params = m.params
net.eval()
print(P.S["evals"], len(asked))
net.train()
print(P.S["evals"], len(asked))
`)
	if r.stdout != "True True\nFalse True\nFalse\nTrue\nFalse\nTrue 1\nFalse 1\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
