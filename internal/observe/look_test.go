//go:build unix

package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoopWithoutSteps: what only calls a model is looked at as closely as a training from
// then on, however long it prepared.
func TestLoopWithoutSteps(t *testing.T) {
	r := runProbed(t, `
import torch, _envfix_look as K
K.end()
part = "python"
K.frames, K.spot = lambda: [None], lambda *a: (part, "t.py", 1, "f", "g")
K.look()
print(K.L["sums"])
part = "forward"
K.L["begun"], K.L["looks"] = 0, 9
K.look()
print(K.L["begun"] > 0, K.L["looks"])
K.L["begun"] = 0
K.look()
print(K.L["begun"], K.L["looks"])
`)
	if r.stdout != "{}\nTrue 0\n0 1\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestSpotParts: a library says by its place what the loop does in it; what is called
// sample and calls the model brings no input.
func TestSpotParts(t *testing.T) {
	r := runProbed(t, `
import sys, torch, _envfix_look as K, _envfix_probe as P
P.C[P.UNIT] = P.OPTIMIZER
def library(name, body):
    g = {"__name__": name}
    exec(compile(body, "/v/site-packages/x.py", "exec"), g)
    return g
def told():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    print(K.spot(stack, False)[0])
model = library("torch.nn.modules.module", "def _call_impl(f): f()")["_call_impl"]
image = library("PIL.Image", "def convert(f): f()")["convert"]
def sample(): told(); model(told); told()
sample()
image(told)
told()
library("torch.optim.lbfgs", "def step(f): f()")["step"](lambda: told())
library("http.server", "def handle(f): f()")["handle"](lambda: told())
tensors = library("torch._tensor", "def __deepcopy__(f): f()")["__deepcopy__"]
library("copy", "def deepcopy(f, x): f(x)")["deepcopy"](tensors, told)
library("selectors", "def select(f): f()")["select"](told)
def sample_top_p(): told()
def sample_batch(): told()
sample_top_p(); sample_batch()
def log_validation(): model(told)
def evaluate_actions(): model(told)
log_validation(); evaluate_actions()
def forward(): tensors(told)
forward()  # whose caller is no module, as a layer that trains itself
library("torch.distributions.categorical", "def sample(f): f()")["sample"](told)
library("json.encoder", "def iterencode(f): f()")["iterencode"](told)
select, run = library("selectors", "def select(f): f()")["select"], library("subprocess", "def run(f, g): f(g)")["run"]
def load_batch(): run(select, told)
run(select, told); load_batch()  # a program that was started brings an input where the job says so
made = {}
exec("def sent(f): f()", made)  # as libraries make proxies and data classes
def loop(): made["sent"](lambda: print(K.spot(stack(), False)[3]))
def stack():
    f, out = sys._getframe(1), []
    while f: out.append(f); f = f.f_back
    return out[1:]
loop()
def outer(): [[told.__call__() for _ in [1]] for _ in [1]]
told = lambda: print(K.spot(stack()[1:], False)[3])
outer()
`)
	if want := "data\nforward\npython\ndata\npython\npython\npython\npython\ndata\npython\ndata\nevaluation\nforward\nforward\nforward\nlogging\npython\ndata\nloop\nouter\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestLookAtFetch: a look that finds the loader's own loop over the samples comes from the
// sample that has just been made, in the loop as in a worker.
func TestLookAtFetch(t *testing.T) {
	r := runProbed(t, `
import sys, torch, _envfix_look as K, _envfix_probe as P
g = {"__name__": "torch.utils.data._utils.fetch"}
exec(compile("def fetch(f): f()", "/v/site-packages/x.py", "exec"), g)
def told():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    P.C[P.PHASE] = P.IN_LOADER
    print(*(K.spot(stack, worker) for worker in (False, True)))
g["fetch"](told)
told()
`)
	if want := "('item', '', 0, '', '') ('item', '', 0, '', '')\n('load', '<stdin>', 11, '<module>', '') None\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestEvaluationLine: what evaluates is told by the line that calls the model, not by one
// in the model's own forward, which the training runs too.
func TestEvaluationLine(t *testing.T) {
	r := runProbed(t, `
import sys, torch, _envfix_look as K, _envfix_probe as P
P.C[P.UNIT] = P.OPTIMIZER
def told():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    print(K.spot(stack, False)[:4:3])
g = {"__name__": "torch.nn.modules.module"}
exec(compile("def _call_impl(f): f()", "/v/site-packages/x.py", "exec"), g)
def forward(): told()
def evaluate(model):
    model(forward)
    told()
evaluate(g["_call_impl"])
`)
	if want := "('evaluation', 'evaluate')\n('evaluation', 'evaluate')\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestLineOfNone: Python 3.11 gives the end of a loop that ends in an if no line, and there
// most looks at it fall: it is told by the line before, not by the function's first.
func TestLineOfNone(t *testing.T) {
	r := runProbed(t, `
from types import SimpleNamespace as New
import torch, _envfix_look as K
code = New(co_firstlineno=1, co_lines=lambda: iter([(0, 2, 1), (2, 6, 2), (6, 8, 3), (8, 10, None), (10, 12, 2)]))
print(*(K.line(New(f_lineno=n, f_lasti=at, f_code=code)) for n, at in ((3, 6), (None, 8), (None, -1))))
`)
	if r.stdout != "3 3 1\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestShortCollections: at a collection's end a look gets the GIL, which C may have held
// until then: only one that took its time collects.
func TestShortCollections(t *testing.T) {
	r := runProbed(t, `
import sys, torch, _envfix_look as K, _envfix_probe as P
K.end()
P.now = lambda: 10**15 # on a crowded machine the short one is long too
was, said = P.cpu, []
def told():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    said.append(K.spot(stack, False)[0])
    return was()
def work():
    P.cpu = told
    K.on_gc("start", {}); K.on_gc("stop", {})
    K.on_gc("start", {}); K.L["gc_since"] -= 5000000; K.on_gc("stop", {})
    P.cpu = was
work()
print(said)
`)
	if want := "['python', 'python', 'python', 'python', 'gc', 'gc']\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestCollectionLine: a collection that a library's objects start is told by the job's line.
func TestCollectionLine(t *testing.T) {
	r := runProbed(t, `
import itertools, torch, _envfix_look as K, _envfix_probe as P
K.end()
P.cpu = itertools.count(0, 2000000).__next__
g = {"__name__": "networkx"}
exec(compile("def add(f):\n  f('start', {})\n  f('stop', {})", "/v/site-packages/x.py", "exec"), g)
g["add"](K.on_gc)
print(list(K.L["gc_lines"]))
`)
	if want := "['<stdin>:7']\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestImageFormat: what decodes an image is told with the format, where only one was seen.
func TestImageFormat(t *testing.T) {
	r := runProbed(t, `
import functools, sys, torch, _envfix_look as K, _envfix_probe as P
K.end()
P.event = lambda where: print(where["top"][0]["call"])
def library(module, name):
    g = {"__name__": module}
    exec(compile("def %s(f): f()" % name, "/v/site-packages/%s.py" % module, "exec"), g)
    return g[name]
def look():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    K.L["sums"] = {K.spot(stack, False): [9, 9]}
    K.tell()
convert = library("PIL.Image", "convert")
def job(): convert(look)
library("PIL.BmpImagePlugin", "_accept")(job)
convert(functools.partial(library("PIL.PngImagePlugin", "load_read"), look))
job()
convert(functools.partial(library("PIL.JpegImagePlugin", "draft"), look))
`)
	if want := "PIL.Image.convert\nPIL.Image.convert (PNG)\nPIL.Image.convert (PNG)\nPIL.Image.convert\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestChain: a step of a chain is named by its class where all steps share their base's method.
func TestChain(t *testing.T) {
	r := runProbed(t, `
import sys, torch, _envfix_look as K, _envfix_probe as P
K.end()
K.READABLE = False
g = {"__name__": "augment.core"}
exec(compile("class Base:\n  def __call__(self, f): self.apply(f)\nclass Blur(Base):\n  def apply(self, f): f()\nclass Alone:\n  def __call__(self, f): Blur().apply(f)",
    "/v/site-packages/x.py", "exec"), g)
def look():
    f, stack = sys._getframe(1), []
    while f: stack.append(f); f = f.f_back
    print(K.spot(stack, False)[4])
g["Blur"]()(look) if hasattr(look.__code__, "co_qualname") else print("augment.core.Blur.apply")
g["Alone"]()(look) if hasattr(look.__code__, "co_qualname") else print("augment.core.Alone.__call__")
`)
	if want := "augment.core.Blur.apply\naugment.core.Alone.__call__\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestMeant: a line says by the name of its result what it is for, and a file that is
// written by its own.
func TestMeant(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.py")
	body := `
def count(f): return f()
def loop(told, out, log_file, io):
    f1 = count(told)
    batch = count(told)
    x = count(told)
    out.write(told())
    log_file.write(told())
    io.open("t", "wb", told())
    io.open("t", told())
    post(told)
    post(told, "checkpoint")
    answer = post(told)
`
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runProbed(t, "import runpy\nloop = runpy.run_path('"+file+"')['loop']"+`
import functools, sys, torch, types, _envfix_look as K, _envfix_probe as P
P.C[P.UNIT] = P.OPTIMIZER
def told(depth=1, *a):
    f, stack = sys._getframe(depth), []
    while f: stack.append(f); f = f.f_back
    print(K.spot(stack, False)[0])
out = types.SimpleNamespace(write=functools.partial(told, 1))
import io
g = {"__name__": "requests.api"}
exec(compile("def post(f, *a): return f()", "/v/site-packages/x.py", "exec"), g)
loop.__globals__.update(io=io, post=g["post"])
loop(told, out, out, types.SimpleNamespace(open=functools.partial(told, 1)))
`)
	if want := "metrics\ndata\npython\npython\nsaving\npython\nlogging\npython\nsaving\npython\ndata\nlogging\nsaving\ndata\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("%q, want %q\n%s", r.stdout, want, r.stderr)
	}
}

// TestBeside: while the loop sleeps for what another thread of the job's makes in Python,
// the line there is told.
func TestBeside(t *testing.T) {
	r := runProbed(t, `
import sys, queue, threading, torch, _envfix_look as K, _envfix_probe as P
K.end()
def parse(n): return sum(i * i for i in range(n))
q = queue.Queue(1)
def produce():
    while True: q.put(parse(3000000))
threading.Thread(target=produce, daemon=True).start()
seen = []
def look():
    for _ in range(40):
        threading.Event().wait(0.01)
        stack = K.frames()
        seen.append(K.beside(K.spot(stack, False)))
looker = threading.Thread(target=look)
looker.start()
while looker.is_alive(): q.get()
told = [s for s in seen if s[0] == "data" and s[2] == 4 and s[3].startswith("parse")]
print(len(told) > len(seen) // 2, told[:1], seen[:3])
`)
	if !strings.HasPrefix(r.stdout, "True") || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestSleepsForThreads: a loop that sleeps while it collates, or in a backward pass that
// no GPU computes, sleeps for the GIL that another thread holds; one that loads may read.
func TestSleepsForThreads(t *testing.T) {
	r := runProbed(t, `
import threading, torch, _envfix_look as K
K.end()
for _ in range(2): threading.Thread(target=threading.Event().wait, daemon=True).start()
K.frames, K.slept, K.beside = lambda: [None], lambda dt: dt, lambda s: ("python", "t.py", 1, "f", "g")
for cuda in (False, True):
    torch.cuda.is_initialized = lambda: cuda
    for part in ("collate", "backward", "item"):
        K.L["sums"], K.L["pending"], K.L["model"] = {}, {}, True
        K.spot = lambda *a: (part, "t.py", 2, "f", "g")
        K.look()
        print(part, cuda, *sorted({k[0] for k, v in K.L["sums"].items() if v[0]}))
`)
	want := "collate False python\nbackward False python\nitem False item\ncollate True python\nbackward True backward\nitem True item\n"
	if r.stdout != want || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestSwitchInterval: the GIL is asked for soon while nobody else might ask for it, as who
// sleeps does not, else for a moment before a look, and later where calls hold it long; what
// the job set itself stays, and no child inherits it.
func TestSwitchInterval(t *testing.T) {
	r := runProbed(t, `
import os, sys, threading, time, torch, _envfix_look as K
K.LATER, later = K.SOON, K.LATER # on a crowded machine a look is late too
seen = lambda n: {sys.getswitchinterval() for _ in range(n) if not time.sleep(0.001)}
time.sleep(0.05)
print(seen(100) == {K.SOON})
sys.stdout.flush()
if os.fork() == 0:
    print(sys.getswitchinterval() == K.USUAL); sys.stdout.flush(); os._exit(0)
os.wait()
threading.Thread(target=threading.Event().wait, daemon=True).start()
time.sleep(0.3)
print(seen(100) == {K.SOON})
def work():
    while True: sum(range(100))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print(seen(300) == {K.SOON, K.USUAL})
sys.setswitchinterval(0.003)
print(seen(100) == {0.003})
sys.setswitchinterval(K.SOON)
K.end()
print(sys.getswitchinterval() == K.USUAL)
K.LATER, K.L["late"] = later, 0.006
K.patient(False)
print(sys.getswitchinterval() == later)
`)
	if r.stdout != strings.Repeat("True\n", 7) || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// A look leaves nothing of the job's alive: what a frame held goes when the frame ends,
// without the collector. A DataLoader's iterator that stays longer is ended in a worker
// that was forked meanwhile, and the next one waits ten seconds for it.
func TestLooksHoldNothing(t *testing.T) {
	r := runProbed(t, `
import gc, threading, weakref, torch, _envfix_look as K
K.end()
gc.disable()
class Thing: pass
def job():
    thing = Thing()
    looker = threading.Thread(target=lambda: K.spot(K.frames(), False))
    looker.start(), looker.join()
    return weakref.ref(thing)
print([job()() for _ in range(3)])
`)
	if r.stdout != "[None, None, None]\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
