"""What a user asks for: `--try` gives the loader other arguments for some steps and changes them back; `--deep` takes
one torch.profiler burst. Loaded by the probe only then. Every batch is delivered once and in order."""
import atexit, copy, os
import _envfix_probe as P
import torch
TRY, DEEP = os.environ.get("ENVFIX_PROBE_TRY", ""), bool(os.environ.get("ENVFIX_PROBE_DEEP"))
ALLOWED = {"num_workers": int, "pin_memory": lambda s: s == "True", "prefetch_factor": int, "persistent_workers": lambda s: s == "True"}
BEFORE, SETTLE, STEPS, DEEP_AT, DEEP_STEPS = 25, 8, 25, 15, 3
FIRST = 5 + P.BURST_AT + P.BURST_STEPS
EPOCH_STEPS = 10  # whole epochs are compared where one is too short, or where only an epoch's edge can tell
E = {"loader": None, "epochs": 0, "phase": "", "before": None, "saved": None}
T = {"loader": None, "owner": None, "now": None, "gate": None, "source": None, "phase": "", "at": 0, "marks": {}, "done": not TRY, "prof": None}

class Gate:
    """Feeds an iterator from the epoch's sampler until it is closed; what was fetched by then is still delivered."""
    def __init__(self, source, open=True):
        self.source, self.open = source, open
    def __iter__(self):
        return self
    def __next__(self):
        if not self.open:
            raise StopIteration
        return next(self.source)
    def __len__(self):
        return 1 << 40

def arguments():
    out = {}
    for part in TRY.split(","):
        name, _, value = part.strip().partition("=")
        out[name] = ALLOWED[name](value)
    return out

def made(loader, changes):
    """An iterator of the loader, with changed arguments, that goes on where the last one stopped."""
    D, new = torch.utils.data.dataloader, copy.copy(loader)
    gate = T["gate"] = Gate(T["source"])
    new.__dict__["batch_sampler" if loader._auto_collation else "sampler"] = gate
    new.__dict__.update({k: v for k, v in changes.items() if k != "persistent_workers"})
    if new.num_workers and new.prefetch_factor is None:
        new.__dict__["prefetch_factor"] = 2
    elif not new.num_workers:
        new.__dict__["prefetch_factor"] = None
    new.__dict__.update(persistent_workers=False, _iterator=None)
    rng = torch.get_rng_state()  # making an iterator draws a seed: the job's own numbers stay as they are
    try:
        return D._SingleProcessDataLoaderIter(new) if new.num_workers == 0 else D._MultiProcessingDataLoaderIter(new)
    finally:
        torch.set_rng_state(rng)

def take(it, onext):
    if T["phase"] == "start" and T["loader"] and T["loader"][0] is it:
        begin(it)
    while True:
        try:
            current = T["now"] if T["owner"] is it else it
            b = onext(current)
            if current is not it:
                it._num_yielded += 1
            return b
        except StopIteration:
            if T["owner"] is not it or T["phase"] not in ("drain", "drain back"):  # the epoch's own end
                if T["owner"] is it:
                    T["owner"], T["now"], T["phase"], T["marks"] = None, None, "", {}
                raise
            back = T["phase"] == "drain back"
            try:
                T["now"] = made(T["loader"][1], {} if back else arguments())
            except Exception as e:
                back = True
                report(repr(e)[:300])
                T["now"] = made(T["loader"][1], {})
            T["phase"], T["at"] = "back" if back else "try", P.C[P.STEPS]

def begin(it):
    D, T["phase"] = torch.utils.data.dataloader, ""
    if E["phase"] or "persistent_workers" in arguments():
        return
    try:
        if it._dataset_kind != D._DatasetKind.Map:
            raise ValueError("an IterableDataset cannot be handed over in the middle of an epoch")
        arguments()
        T["owner"], T["now"], T["source"], T["phase"] = it, it, it._sampler_iter, "drain"
        it._sampler_iter = Gate(it._sampler_iter, open=False)
    except Exception as e:
        T["done"] = True
        P.event("try", args=TRY, error=repr(e)[:300])

def mark(name, n, t):
    T["marks"][name] = (n, t, P.C[P.LOAD])

def report(error):
    if T["done"]:
        return
    T["done"], m = True, T["marks"]
    def rate(a, b):
        (n0, t0, l0), (n1, t1, l1) = m[a], m[b]
        return (t1 - t0) / max(n1 - n0, 1) / 1e9, (l1 - l0) / max(n1 - n0, 1) / 1e9
    if "b1" not in m:
        return P.event("try", args=TRY, error=error)
    (sb, lb), (sa, la) = rate("a0", "a1"), rate("b0", "b1")
    P.event("try", args=TRY, steps=m["b1"][0] - m["b0"][0], before=sb, after=sa, load_before=lb, load_after=la)

def on_step(n, t):
    if DEEP and n >= DEEP_AT:
        deep(n)
    if T["done"]:
        return
    if E["phase"]:
        return
    if n == FIRST:
        mark("a0", n, t)
    elif n == FIRST + BEFORE:
        mark("a1", n, t)
        T["phase"] = "start"
    elif T["phase"] == "try" and "b0" not in T["marks"] and n >= T["at"] + SETTLE:
        mark("b0", n, t)
    elif T["phase"] == "try" and "b0" in T["marks"] and n >= T["marks"]["b0"][0] + STEPS:
        mark("b1", n, t)
        T["gate"].open, T["phase"] = False, "drain back"
        report("")

def remember():
    """Keeps which loader the newest iterator is of, for the iterator itself does not say, and sees epochs begin."""
    D = torch.utils.data.dataloader
    old, begins = D.DataLoader._get_iterator, D.DataLoader.__iter__
    def _get_iterator(self):
        it = old(self)
        T["loader"] = (it, self)
        return it
    def __iter__(self):
        try:
            T["done"] or epoch(self)
        except Exception as e:
            restore()
            report(repr(e)[:300])
        if E["saved"] and self is E["loader"] and self.persistent_workers and self.__dict__.get("_iterator"):
            torch.empty((), dtype=torch.int64).random_(generator=self.generator)  # the seed that new workers would have drawn
        return begins(self)
    P.patch(D.DataLoader, "_get_iterator", _get_iterator)
    P.patch(D.DataLoader, "__iter__", __iter__)

def epoch(loader):
    """A new epoch begins. Whole epochs are compared, their edges with them: before, then with the changed arguments."""
    n, at = P.C[P.STEPS], (P.C[P.STEPS], P.now(), P.C[P.LOAD] + P.C[P.EDGE])
    if T["owner"] or E["loader"] is not None and E["loader"] is not loader:
        if not T["owner"] and type(loader.dataset) is type(E["loader"].dataset) and E["epochs"] == 1:
            raise ValueError("the DataLoader is built anew for each epoch: build it once, before the loop")
        return  # another loader, as one for validation
    E["loader"], E["epochs"] = loader, E["epochs"] + 1
    if E["epochs"] == 2:  # the first holds the start of everything
        T["marks"]["a0"], E["phase"] = at, "before"
    elif E["phase"] == "before" and n - T["marks"]["a0"][0] >= EPOCH_STEPS:
        T["marks"]["a1"], E["phase"] = at, "settle"
        if loader.persistent_workers and loader.num_workers:
            raise ValueError("a DataLoader that keeps its workers is tried within one epoch, which is too short here")
        new, E["saved"] = arguments(), {**{k: getattr(loader, k) for k in ALLOWED}, "_iterator": None}
        loader.__dict__.update(new)
        if loader.num_workers and loader.prefetch_factor is None:
            loader.__dict__["prefetch_factor"] = 2
    elif E["phase"] == "settle":  # the first with them holds the start of workers that stay
        T["marks"]["b0"], E["phase"] = at, "try"
    elif E["phase"] == "try" and n - T["marks"]["b0"][0] >= EPOCH_STEPS:
        T["marks"]["b1"] = at
        restore()
        report("")

def restore():
    if E["saved"]:
        E["loader"].__dict__.update(E["saved"])
    E["saved"], E["phase"] = None, ""

def unfinished():
    if not T["done"]:
        report("the job ended before it could be measured: it takes one epoch of %d steps, or five of %d" % (FIRST + BEFORE + SETTLE + 2 * STEPS, EPOCH_STEPS))

remember()
atexit.register(unfinished)

def deep(n):
    if n == DEEP_AT and not torch.autograd._profiler_enabled():  # a second profiler would cancel the job's own
        from torch.profiler import profile, ProfilerActivity as A
        T["prof"] = profile(activities=[A.CPU] + ([A.CUDA] if torch.cuda.is_initialized() else []))
        T["prof"].__enter__()
    elif T["prof"] and n == DEEP_AT + DEEP_STEPS:
        p, T["prof"] = T["prof"], None
        p.__exit__(None, None, None)
        every = [e for e in p.key_averages() if "#" not in e.key]  # torch's own marks, such as Optimizer.step#SGD.step, are no operators
        device = lambda e: getattr(e, "self_device_time_total", 0) or getattr(e, "self_cuda_time_total", 0)  # the name before 2.4
        kernels = any(device(e) > 0 for e in every)
        own = device if kernels else lambda e: e.self_cpu_time_total
        top = sorted(every, key=own, reverse=True)[:8]
        P.event("deep", kernels=kernels, top=["%8.2f ms %5d × %s" % (own(e) / 1e3 / DEEP_STEPS, max(1, e.count // DEEP_STEPS), e.key[:80]) for e in top if own(e) > 0])
