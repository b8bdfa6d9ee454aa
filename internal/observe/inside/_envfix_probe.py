"""The probe: permanent hooks on the loader's __next__ and after the optimizer's step, one shared page of counters, a few
JSON lines. No start of CUDA, no hook on nn.Module.__call__, no thread but the one of _envfix_look. Every hook body is
guarded: the first error of its own takes all hooks out (word ERR counts it). An error of the job's passes as it came:
the wrappers take themselves out of its traceback."""
import atexit, contextlib, json, linecache, mmap, os, sys, time
from _thread import get_ident, get_native_id
now, cpu = time.monotonic_ns, time.thread_time_ns
# The page's words (u64), which the observer reads while the job runs; page.go has the same list.
(MAGIC, PHASE, SINCE, BATCHES, LOAD, STEPS, LAST, LAST_LOAD, EDGE, ERR, LOAD_CPU,
 LOAD_SEEN, EPOCHS, LOAD_MAX, FIRST, WARM, WARM_AT, WARM_LOAD, OOMS, UNIT, RETRIES) = range(21)
USER, IN_LOADER, IN_FIRST, LOAD_HIST, STEP_HIST = 0, 1, 2, 64, 128  # phases; where counts by the bit length of nanoseconds begin
BATCH, BACKWARD, OPTIMIZER = 1, 2, 3  # what counts as a step: the optimizer's, without one each backward pass, without that each batch
LIBRARY = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
DIR, WARM_STEPS, SLOW, MOST_EVENTS = os.environ.get("ENVFIX_PROBE_DIR", ""), 3, 2 * 10**9, 64
BURST_AT, HAND_AT, BURST_STEPS = 5, 20, 5  # after so many backward passes no optimizer comes: the updates are written by hand
C = memoryview(bytearray(4096)).cast("Q")  # scratch until the first hook fires
S = {"page": False, "events": 0, "undo": [], "backward": None, "burst": 0, "mark": 0, "next_mem": 0, "loaders": 0, "lines": {}, "moved": {}, "host": set(),
     "look": None, "thread": 0, "tid": 0, "warm": False, "eval": False, "data": None, "trains": set(), "lead": None,
     "others": {}, "via": (), "loop": set(), "next": None, "wraps": [], "turns": False, "evals": False, "trained": set(), "left": {}}
torch = extra = load = sets = None

def event(**kw):  # one line, one write; at most MOST_EVENTS a process. The names are those of verdict.Probe; None adds nothing
    S["events"] += 1
    text = json.dumps(kw, default=str)
    if S["events"] <= MOST_EVENTS and len(text) < 8000:
        with open("%s/p%d.jsonl" % (DIR, os.getpid()), "ab", 0) as f:
            f.write(text.encode() + b"\n")

def page():
    global C
    S["page"] = True
    with open("%s/p%d.page" % (DIR, os.getpid()), "w+b", 0) as f:
        if f.write(bytes(4096)) != 4096:  # written, not truncated: a store into a hole of a full disk would kill the job
            raise OSError("no room for the page")
        C = memoryview(mmap.mmap(f.fileno(), 4096)).cast("Q")
    C[MAGIC] = 0x32584946564E45

def after_fork():  # a child must not write into its parent's page, nor keep the burst's hooks
    global C
    S["burst"] and undo(S["mark"])
    C = memoryview(bytearray(4096)).cast("Q")
    S.update(page=False, events=0, burst=0, lines={}, look=None)

def fail():
    with contextlib.suppress(Exception):
        C[ERR] += 1
        undo(0)
        S["backward"] and S["backward"]()
        event(error=repr(sys.exc_info()[1])[:300])

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
        t0 = now()
        try:
            r = old(self, *a, **k)
        except BaseException as e:
            e.__traceback__ = e.__traceback__.tb_next
            raise
        try:
            S["began"] = t0
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

def line(depth, own=False):  # file:line of the nearest caller that is not torch's; own: nor of any library
    f = sys._getframe(depth)
    while f and (not mine(f.f_code.co_filename) if own else inner(f)):
        f = f.f_back
    return named(f.f_code.co_filename, f.f_lineno) if f else ""

def settings(where, own):  # the line that made a loader, and that of the job's which sets a library's
    (path, _, n), file = where.rpartition(":"), own.rpartition(":")[0]
    at = next((i for i, l in enumerate(linecache.getlines(file), 1) if any(c in l.partition("#")[0] for c in ("TrainingArguments(", "SFTConfig("))), 0)
    return {"source": linecache.getline(path, int(n or 0)).rstrip("\n")[:300], "setting": at and "%s:%d" % (file, at) or ""}

def named(path, n):  # file:line; a cell of a notebook by its number, for its file's name says nothing
    cell = None
    with contextlib.suppress(Exception):
        cell = sys.modules["IPython"].get_ipython().compile._filename_map.get(path)
    return "%s:%d" % (path if cell is None else "Cell In[%d]" % cell, n)

def mine(path):  # is a file the job's own: neither installed nor Python's nor ours?
    return "-packages" + os.sep not in path and not path.startswith(LIBRARY) and (path[:1] != "<" or path in ("<stdin>", "<string>"))

def on_step(opt, args, kwargs):  # optimizers that take turns, as a GAN's, make one step together: that of the first
    try:
        k = id(opt)
        k not in S["trained"] and S["trained"].update([k], (id(p) for g in opt.param_groups for p in g["params"]))
        S["lead"] = S["lead"] or k
        if k != S["lead"]:
            n, S["turns"] = S["others"].get(k, 0) + 1, True
            S["others"][k] = n
            if n <= 8:
                return
            S["lead"] = k  # the one before steps no more, or more seldom
        S["others"].clear()
        if C[UNIT] != OPTIMIZER:
            S["backward"], back = None, S["backward"]
            back and back()
        if step(OPTIMIZER) == 1:
            config(opt)
    except Exception:
        fail()

def step(unit):
    t = now()
    S["page"] or page()
    if C[UNIT] != unit:
        for w in (STEPS, LAST, LAST_LOAD, WARM, WARM_AT, WARM_LOAD, *range(STEP_HIST, STEP_HIST + 64)):
            C[w] = 0
        C[UNIT], S["loop"] = unit, set()
    S["thread"] == get_ident() or S.update(thread=get_ident(), tid=get_native_id())
    if unit >= BACKWARD:
        S["eval"] = S["evals"] = False
        if S["data"] not in S["trains"]:
            S["trains"].add(S["data"])
            event(feeds=S["data"])
    if C[LAST]:
        C[STEP_HIST + (t - C[LAST]).bit_length()] += 1
    C[LAST], C[LAST_LOAD] = t, C[LOAD]
    n = C[STEPS] = C[STEPS] + 1
    if n == 1 or n <= WARM_STEPS and (t - C[WARM_AT] < SLOW or compiled()):  # of few and long steps each counts
        C[WARM], C[WARM_AT], C[WARM_LOAD] = n, t, C[LOAD]
        S["warm"], f = True, sys._getframe(1)
        while f:
            S["loop"].add(f.f_code)
            f = f.f_back
    if unit >= BACKWARD:
        if n == (BURST_AT if unit == OPTIMIZER else HAND_AT) and not compiled():
            S["watch"] = load("_envfix_burst").burst()
        elif S["burst"]:
            S["watch"]()
    extra and extra.on_step(n)
    if t > S["next_mem"] and torch.cuda.is_initialized():  # once a second, and only when the job itself has started CUDA
        S["next_mem"], (C[OOMS], C[RETRIES]) = t + 1_000_000_000, map(torch.cuda.memory_stats().get, ("num_ooms", "num_alloc_retries"), (0, 0))
    return n

def compiled():  # has torch.compile captured a frame?
    return bool(getattr(sys.modules.get("torch._dynamo.utils"), "counters", {}).get("frames")) or None

def precision():  # of matrix products; the old question is an error once the new setting was used
    new = hasattr(torch._C, "_get_fp32_precision_getter") and [  # of 2.9 and later; older ones raise for a name they do not know
        p for p in (torch.backends.cuda.matmul.fp32_precision, torch.backends.fp32_precision) if p != "none"]
    return torch.get_float32_matmul_precision() if not new else "highest" if new[0] == "ieee" else "high"

def config(opt):
    params, d, every = {}, torch.distributed, [p for g in opt.param_groups for p in g["params"]]
    for p in every:
        k = "%s/%s" % (p.device, p.dtype)
        params[k] = params.get(k, 0) + p.numel()
    via, f = [], sys._getframe(1)
    while f:  # whose loop it is
        name = f.f_code.co_filename.rpartition("-packages" + os.sep)[2].partition(os.sep)[0]
        "-packages" + os.sep in f.f_code.co_filename and name not in via and via.append(name)
        f = f.f_back
    S["via"], dist = set(via) - {"torch"}, d.is_available() and d.is_initialized()
    rank, world = (d.get_rank(), d.get_world_size()) if dist else (int(v) if v.isdigit() else None for v in map(os.environ.get, ("RANK", "WORLD_SIZE"), "--"))
    event(params=params, matrices=sum(p.numel() for p in every if p.dim() == 2), cuda_init=torch.cuda.is_initialized() or None, matmul=precision(),
          compiled=compiled(), cuda_visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"), via=via[:12] or None, rank=rank, world=world)

def place(t):  # of a tensor's numbers: views share it
    try:
        return t.untyped_storage().data_ptr() if hasattr(t, "untyped_storage") else t.storage().data_ptr()
    except Exception:
        return id(t)

def install(t, loader):
    global torch, extra, load, LIBRARY
    torch, load, LIBRARY = t, loader, LIBRARY + (os.path.dirname(t.__file__) + os.sep,)
    event(version=t.__version__, cuda=t.version.cuda, hip=getattr(t.version, "hip", None), xpu=bool(getattr(t.version, "xpu", None)),
          cuda_visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"), prefix=sys.prefix)  # first, so that a folder that cannot be written ends it here
    import torch.utils.data.dataloader as D
    import torch.optim.optimizer as O
    S["undo"].append((getattr(O, "register_optimizer_step_post_hook", None) or load("_envfix_old").register)(on_step).remove)
    if os.environ.get("ENVFIX_PROBE_TRY") or os.environ.get("ENVFIX_PROBE_DEEP"):
        extra = load("_envfix_extra")
    def made(s, r, a, k):
        global sets
        S["loaders"], sets = S["loaders"] + 1, sets or load("_envfix_data")
        if S["loaders"] <= 8:
            stream = isinstance(s.dataset, getattr(t.utils.data, "IterableDataset", ()))
            event(loader={"workers": s.num_workers, "pin_memory": bool(s.pin_memory), "batch_size": s.batch_size, "persistent": s.persistent_workers,
                          "data": id(s.dataset), "prefetch": s.prefetch_factor, "stream": stream, **sets.built(s),
                          "where": line(3), "own": line(3, True), **settings(line(3), line(3, True))})
    after(D.DataLoader, "__init__", made)
    onext = D._BaseDataLoaderIter.__next__
    def __next__(self):  # on the class: the iterator's type is unchanged
        t0, k = now(), C[BATCHES] < 16 or not C[BATCHES] & 15  # the CPU clock on every 16th batch only: it costs a system call
        c0 = cpu() if k else 0
        try:
            S["page"] or page()
            S["eval"] = C[UNIT] >= BACKWARD and id(getattr(self, "_dataset", None)) not in S["trains"]
            C[SINCE], C[PHASE] = t0, IN_LOADER if self._num_yielded else IN_FIRST
        except Exception:
            fail()
        b = None
        try:
            b = onext(self)
            return b
        except BaseException as e:
            e.__traceback__ = e.__traceback__.tb_next
            raise
        finally:
            try:
                took(self, b, t0, now(), cpu() - c0 if k else 0)
            except Exception:
                fail()
    def took(it, b, t0, t1, used):
        dt, C[PHASE], C[SINCE] = t1 - t0, USER, t1
        if S["eval"]:  # no part of the training's steps: the looks tell what evaluation costs
            S["data"] = id(it._dataset)
            return
        if b is None:
            S["left"][id(it._dataset)] = sets.state(it._dataset)
        if b is None or it._num_yielded == 1:  # an epoch's first batch and its end: workers start and stop
            C[EDGE], C[FIRST] = C[EDGE] + dt, C[FIRST] or t0
            f = sys._getframe(2)
            S["next"] = f.f_code, f.f_lineno  # a look finds the thread there between two steps, whatever ran before
            C[EPOCHS] += b is not None  # that began: who counts the batches, as Lightning does, never asks for the one after the last
            if b is not None and C[EPOCHS] > 1 and not getattr(it, "_num_workers", 1):  # no worker starts: it is a batch like the others
                C[LOAD] += dt
        else:
            C[LOAD] += dt
            C[LOAD_HIST + dt.bit_length()] += 1
            C[LOAD_MAX] = max(C[LOAD_MAX], dt)
            if used:
                C[LOAD_CPU], C[LOAD_SEEN] = C[LOAD_CPU] + used, C[LOAD_SEEN] + dt
        if b is not None:
            C[BATCHES] += 1
            S["data"] = id(getattr(it, "_dataset", None))
            if S["burst"]:
                S["host"] = {place(t) for t in tensors(b)}
            if C[BATCHES] == 1:
                event(batch_tensors=len(ts := tensors(b)), batch={"shape": list(ts[0].shape), "dtype": str(ts[0].dtype)} if ts and ts[0].dim() else None)
            C[UNIT] > BATCH or step(BATCH)
    patch(D._BaseDataLoaderIter, "__next__", __next__)
    def iterated(s, r, a, k):  # its workers have been forked or spawned
        C[EDGE] += 0 if S["eval"] else now() - S["began"]
        with contextlib.suppress(Exception):
            if S["left"].pop(id(s.dataset), None) not in (None, sets.state(s.dataset)):
                event(changes=id(s.dataset))
            extra and extra.made(s)
    after(D.DataLoader, "_get_iterator", iterated)
    fetcher = D._DatasetKind.create_fetcher
    def create_fetcher(*a, **k):  # once a worker
        with contextlib.suppress(Exception):
            S["look"] = S["look"] or t.utils.data.get_worker_info() and load("_envfix_look").start(True)
        return fetcher(*a, **k)
    patch(D._DatasetKind, "create_fetcher", staticmethod(create_fetcher))
    after(t.Tensor, "backward", lambda s, r, a, k: C[UNIT] <= BACKWARD and step(BACKWARD))
    S["backward"] = S["undo"].pop()  # until an optimizer steps
    for cls in (t.nn.parallel.DistributedDataParallel, t.nn.DataParallel):
        after(cls, "__init__", lambda s, r, a, k: S["wraps"].append(type(s).__name__) or event(
            parallel=S["wraps"][:4], parallel_devices=len(getattr(s, "device_ids", None) or ()) or None))
    available = t.cuda.is_available
    def is_available():  # once: the answer to the job's own question
        r = available()
        with contextlib.suppress(Exception):
            if t.cuda.is_available is is_available:
                t.cuda.is_available = available
                event(said_no=not r)
        return r
    t.cuda.is_available, hook = is_available, sys.excepthook
    def excepthook(et, ev, tb):
        with contextlib.suppress(Exception):
            text = str(ev)  # an out-of-memory text begins with its numbers, a worker's error ends with them
            event(crash={"type": et.__name__, "text": text if len(text) < 1500 else text[:700] + " ... " + text[-700:]})
        hook(et, ev, tb)
    def end():
        with contextlib.suppress(Exception):
            S["look"] and S["look"]()
            event(loaders_made=S["loaders"], cuda_init=t.cuda.is_initialized() or None, compiled=compiled())
    sys.excepthook = excepthook
    os.register_at_fork(after_in_child=after_fork)
    atexit.register(end)
    S["look"] = load("_envfix_look").start()
