"""The probe: permanent hooks on the loader's __next__ and after the optimizer's step, one shared page of counters, a few
JSON lines. No thread, no start of CUDA, no hook on nn.Module.__call__. Every hook body is guarded: the first error of
its own takes all hooks out (word ERR counts it), and the job goes on."""
import atexit, contextlib, json, mmap, os, sys, time
now, cpu = time.monotonic_ns, time.thread_time_ns
# The page's words (u64), which the observer reads while the job runs; page.go has the same list.
(MAGIC, PID, PHASE, SINCE, BATCHES, LOAD, STEPS, LAST, LAST_LOAD, EDGE, AMP, COPY, SYNC, BURST, ALLOC, RESV, ERR, PEAK, LOAD_CPU,
 LOAD_SEEN, EPOCHS, LOAD_MAX, FIRST, WARM, WARM_AT, WARM_LOAD, OOMS, CPU_COPY, CPU_SYNC) = range(29)
USER, IN_LOADER, IN_FIRST, LOAD_HIST, STEP_HIST = 0, 1, 2, 64, 128  # phases; where counts by the bit length of nanoseconds begin
DIR, WARM_STEPS, BURST_AT, BURST_STEPS, SHARES, MOST_EVENTS, MOST_CALLS = os.environ.get("ENVFIX_PROBE_DIR", ""), 3, 5, 5, 3, 64, 200000
C = memoryview(bytearray(4096)).cast("Q")  # scratch until the first hook fires
S = {"page": False, "events": 0, "undo": [], "burst": 0, "mark": 0, "next_mem": 0, "loaders": 0, "lines": {}, "moved": {}, "share": None}
torch = extra = None

def event(what, **kw):  # one line, one write; at most MOST_EVENTS a process
    S["events"] += 1
    text = json.dumps({"t": now(), "pid": os.getpid(), "ev": what, **kw}, default=str)
    if S["events"] <= MOST_EVENTS and len(text) < 4000:
        with open("%s/p%d.jsonl" % (DIR, os.getpid()), "ab", 0) as f:
            f.write(text.encode() + b"\n")

def page():
    global C
    S["page"] = True
    with open("%s/p%d.page" % (DIR, os.getpid()), "w+b", 0) as f:
        if f.write(bytes(4096)) != 4096:  # written, not truncated: a store into a hole of a full disk would kill the job
            raise OSError("no room for the page")
        C = memoryview(mmap.mmap(f.fileno(), 4096)).cast("Q")
    C[MAGIC], C[PID] = 0x31584946564E45, os.getpid()

def after_fork():  # a child must not write into its parent's page, nor keep the burst's hooks
    global C
    S["burst"] and undo(S["mark"])
    C = memoryview(bytearray(4096)).cast("Q")
    S.update(page=False, events=0, burst=0, lines={}, share=None)

def fail():
    with contextlib.suppress(Exception):
        C[ERR] += 1
        undo(0)
        event("probe_error", err=repr(sys.exc_info()[1])[:300])

def undo(mark):
    while len(S["undo"]) > mark:
        S["undo"].pop()()

def patch(owner, name, fn):
    own, old = name in vars(owner), getattr(owner, name)
    setattr(owner, name, fn)
    S["undo"].append(lambda: setattr(owner, name, old) if own else delattr(owner, name))

def after(owner, name, fn):  # owner.name keeps its behaviour; fn(self, result, args, kwargs) runs after it and can never break it
    old = getattr(owner, name)
    def wrapper(self, *a, **k):
        r = old(self, *a, **k)
        try:
            fn(self, r, a, k)
        except Exception:
            fail()
        return r
    wrapper.__name__, wrapper.__qualname__, wrapper.__doc__, wrapper.__wrapped__ = name, getattr(old, "__qualname__", name), old.__doc__, old
    patch(owner, name, wrapper)

def tensors(b, depth=0):
    if isinstance(b, torch.Tensor) or depth > 2 or not isinstance(b, (dict, list, tuple)):
        return [b] if isinstance(b, torch.Tensor) else []
    return [t for x in (b.values() if isinstance(b, dict) else b) for t in tensors(x, depth + 1)]

def inner(f, part="\0"):  # is a frame of torch's own code, or of a file with this part in its path?
    return f.f_code.co_filename.startswith(os.path.dirname(torch.__file__) + os.sep) or part in f.f_code.co_filename

def line(depth):  # file:line of the nearest caller that is not torch's
    f = sys._getframe(depth)
    while f and inner(f):
        f = f.f_back
    return "%s:%d" % (f.f_code.co_filename, f.f_lineno) if f else ""

def on_step(opt, args, kwargs):
    try:
        t = now()
        S["page"] or page()
        if C[LAST]:
            C[STEP_HIST + (t - C[LAST]).bit_length()] += 1
        C[LAST], C[LAST_LOAD] = t, C[LOAD]
        n = C[STEPS] = C[STEPS] + 1
        if n <= WARM_STEPS:
            C[WARM], C[WARM_AT], C[WARM_LOAD] = n, t, C[LOAD]
        n == 1 and config(opt)
        if n == BURST_AT and not compiled():
            burst()
        elif S["burst"] or S["share"]:
            watch()
        extra and extra.on_step(n, t)
        if t > S["next_mem"] and torch.cuda.is_initialized():  # once a second, and only when the job itself has started CUDA
            S["next_mem"], m = t + 1_000_000_000, torch.cuda.memory_stats()
            C[ALLOC], C[RESV], C[PEAK], C[OOMS] = (m.get(k, 0) for k in (
                "allocated_bytes.all.current", "reserved_bytes.all.current", "allocated_bytes.all.peak", "num_ooms"))
    except Exception:
        fail()

def compiled():  # has torch.compile captured a frame?
    return bool(getattr(sys.modules.get("torch._dynamo.utils"), "counters", {}).get("frames"))

def precision():  # of matrix products; the old question is an error once the new setting was used
    new = hasattr(torch._C, "_get_fp32_precision_getter") and [  # of 2.9 and later; older ones raise for a name they do not know
        p for p in (torch.backends.cuda.matmul.fp32_precision, torch.backends.fp32_precision) if p != "none"]
    return torch.get_float32_matmul_precision() if not new else "highest" if new[0] == "ieee" else "high"

def config(opt):
    params, d, every = {}, torch.distributed, [p for g in opt.param_groups for p in g["params"]]
    for p in every:
        k = "%s/%s" % (p.device, p.dtype)
        params[k] = params.get(k, 0) + p.numel()
    dist = d.is_available() and d.is_initialized()
    event("config", params=params, matrices=sum(p.numel() for p in every if p.dim() == 2), cuda_init=torch.cuda.is_initialized(),
          matmul=precision(), compiled=compiled(), env={k: os.environ[k] for k in ("RANK", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER") if k in os.environ},
          rank=d.get_rank() if dist else None, world=d.get_world_size() if dist else None)

def burst():  # closer watch for a few steps, then unpatched; never once torch.compile is at work: dynamo traces Python methods
    S["burst"], S["mark"] = BURST_STEPS, len(S["undo"])
    def seen(word):
        C[word] += 1
        k = (word, line(4))
        S["lines"][k] = S["lines"].get(k, 0) + 1
    def copied(s, r, a, k):  # without a GPU only the job's own moves count: a library moves what may be there already
        meant = not inner(sys._getframe(2), "-packages" + os.sep) and ("device" in k or not a or isinstance(a[0], (str, int, torch.device)))
        if s.device.type == "cpu" and (r.device.type != "cpu" or meant and S["moved"].setdefault((C[STEPS], id(s)), line(3)) == line(3)):
            seen(COPY if r.device.type != "cpu" else CPU_COPY)
    def read(s, r, a, k):  # what torch itself moves and reads on the CPU, as the optimizers' step counts, lives there on purpose
        if s.device.type != "cpu" or not inner(sys._getframe(2)):
            seen(CPU_SYNC if s.device.type == "cpu" else SYNC)
    for name in ("to", "cuda", "item", "tolist", "__bool__", "__float__", "__int__", "cpu"):
        after(torch.Tensor, name, copied if name in ("to", "cuda") else read)
    after(torch.autocast, "__enter__", lambda s, r, a, k: getattr(s, "_enabled", True) and seen(AMP))
    backward, S["own"], S["own_at"] = torch.Tensor.backward, 0, 0
    def began(s, *a, **k):  # what a rank does alone ends here: in the backward pass it waits for the others
        if S["own_at"] != C[STEPS]:
            S["own"], S["own_at"] = S["own"] + now() - C[LAST], C[STEPS]
        return backward(s, *a, **k)
    patch(torch.Tensor, "backward", began)

def watch():
    if S["burst"]:
        S["burst"], C[BURST] = S["burst"] - 1, C[BURST] + 1
        if not S["burst"]:
            undo(S["mark"])
            best = {w: max((n, k[1]) for k, n in S["lines"].items() if k[0] == w)[1] for w in {k[0] for k in S["lines"]}}
            event("burst", steps=C[BURST], copy=C[COPY], sync=C[SYNC], cpu_copy=C[CPU_COPY], cpu_sync=C[CPU_SYNC], autocast=C[AMP],
                  own=S["own"], copy_at=best.get(COPY) or best.get(CPU_COPY), sync_at=best.get(SYNC) or best.get(CPU_SYNC))
            if not compiled() and not sys.getprofile() and not sys.gettrace():
                share()
        return
    (spent, on), S["share"] = S["share"], None
    if sys.getprofile() == on:
        sys.setprofile(None)
    event("python", share=round(spent[2] / max(spent[2] + spent[3], 1), 3))
    C[STEPS] < BURST_AT + BURST_STEPS + SHARES and not sys.getprofile() and share()

def share():  # splits one step's time: each moment belongs to the frame on top, of Python or native; its own time is nobody's
    stack, spent = [], [now(), 0, 0, 0]  # since, events, in Python, in native code
    def on(frame, kind, arg):
        spent[3 if stack and stack[-1] else 2] += now() - spent[0]
        if kind in ("call", "c_call"):
            stack.append(kind == "c_call" and getattr(arg, "__module__", None) != "builtins")  # sum(…) runs the job's Python
        elif stack:
            stack.pop()
        spent[1] += 1
        if spent[1] > MOST_CALLS:
            sys.setprofile(None)
        spent[0] = now()
    S["share"] = spent, on
    sys.setprofile(on)

def install(t, load):
    global torch, extra
    torch = t
    event("torch", version=t.__version__, cuda=t.version.cuda, hip=getattr(t.version, "hip", None), xpu=getattr(t.version, "xpu", None),
          visible=os.environ.get("CUDA_VISIBLE_DEVICES"))  # first, so that a folder that cannot be written ends it here
    import torch.utils.data.dataloader as D
    import torch.optim.optimizer as O
    S["undo"].append((getattr(O, "register_optimizer_step_post_hook", None) or load("_envfix_old").register)(on_step).remove)
    if os.environ.get("ENVFIX_PROBE_TRY") or os.environ.get("ENVFIX_PROBE_DEEP"):
        extra = load("_envfix_extra")
    def made(s, r, a, k):
        S["loaders"] += 1
        if S["loaders"] <= 8:
            event("loader", workers=s.num_workers, pin=bool(s.pin_memory), batch=s.batch_size, persistent=s.persistent_workers,
                  prefetch=s.prefetch_factor, dataset=type(s.dataset).__name__, where=line(3))
    after(D.DataLoader, "__init__", made)
    onext, oget = D._BaseDataLoaderIter.__next__, D.DataLoader._get_iterator
    def __next__(self):  # on the class: the iterator's type is unchanged
        t0, k = now(), not C[BATCHES] & 15  # the CPU clock on every 16th batch only: it costs a system call
        c0 = cpu() if k else 0
        try:
            S["page"] or page()
            C[SINCE], C[PHASE] = t0, IN_LOADER if self._num_yielded else IN_FIRST
        except Exception:
            fail()
        b = None
        try:
            b = extra.take(self, onext) if extra else onext(self)
            return b
        finally:
            try:
                took(self, b, t0, now(), cpu() - c0 if k else 0)
            except Exception:
                fail()
    def took(it, b, t0, t1, used):
        dt, C[PHASE], C[SINCE] = t1 - t0, USER, t1
        if b is None or it._num_yielded == 1:  # an epoch's first batch and its end: workers start and stop
            C[EDGE], C[EPOCHS], C[FIRST] = C[EDGE] + dt, C[EPOCHS] + (b is None), C[FIRST] or t0
        else:
            C[LOAD] += dt
            C[LOAD_HIST + dt.bit_length()] += 1
            C[LOAD_MAX] = max(C[LOAD_MAX], dt)
            if used:
                C[LOAD_CPU], C[LOAD_SEEN] = C[LOAD_CPU] + used, C[LOAD_SEEN] + dt
        if b is not None:
            C[BATCHES] += 1
            if C[BATCHES] == 1:
                ts = tensors(b)
                event("batch", n=len(ts), shape=list(ts[0].shape) if ts else None, dtype=str(ts[0].dtype) if ts else None)
    patch(D._BaseDataLoaderIter, "__next__", __next__)
    def _get_iterator(self):
        t0, it = now(), oget(self)  # forks or spawns the workers
        C[EDGE] += now() - t0
        return it
    patch(D.DataLoader, "_get_iterator", _get_iterator)
    for cls in (t.nn.parallel.DistributedDataParallel, t.nn.DataParallel):
        after(cls, "__init__", lambda s, r, a, k: event("parallel", kind=type(s).__name__, devices=len(getattr(s, "device_ids", None) or ())))
    available = t.cuda.is_available
    def is_available():  # once: the answer to the job's own question
        r = available()
        with contextlib.suppress(Exception):
            if t.cuda.is_available is is_available:
                t.cuda.is_available = available
                event("available", answer=bool(r))
        return r
    t.cuda.is_available, hook = is_available, sys.excepthook
    def excepthook(et, ev, tb):
        with contextlib.suppress(Exception):
            text = str(ev)  # an out-of-memory text begins with its numbers, a worker's error ends with them
            event("crash", type=et.__name__, msg=text if len(text) < 1500 else text[:700] + " ... " + text[-700:])
        hook(et, ev, tb)
    def end():
        with contextlib.suppress(Exception):
            event("end", cuda_init=t.cuda.is_initialized(), compiled=compiled())
    sys.excepthook = excepthook
    os.register_at_fork(after_in_child=after_fork)
    atexit.register(end)
