"""What a user asks for: `--try` gives the loader other arguments for some steps and changes them back; `--deep` takes
one torch.profiler burst. Loaded by the probe only then. Every batch is delivered once and in order."""
import copy, os
import _envfix_probe as P
import torch
TRY, DEEP = os.environ.get("ENVFIX_PROBE_TRY", ""), bool(os.environ.get("ENVFIX_PROBE_DEEP"))
ALLOWED = {"num_workers": int, "pin_memory": lambda s: s == "True", "prefetch_factor": int}
BEFORE, SETTLE, STEPS, DEEP_AT, DEEP_STEPS = 25, 8, 25, 15, 3
FIRST = 5 + P.BURST_AT + P.BURST_STEPS
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
    new.__dict__.update(changes)
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
                    T["owner"] = T["now"] = None
                    report("the epoch ended before it could be measured")
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
    """Keeps which loader the newest iterator is of: the iterator itself does not say."""
    D = torch.utils.data.dataloader
    old = D.DataLoader._get_iterator
    def _get_iterator(self):
        it = old(self)
        T["loader"] = (it, self)
        return it
    P.patch(D.DataLoader, "_get_iterator", _get_iterator)

remember()

def deep(n):
    if n == DEEP_AT and not torch.autograd._profiler_enabled():  # a second profiler would cancel the job's own
        from torch.profiler import profile, ProfilerActivity as A
        T["prof"] = profile(activities=[A.CPU] + ([A.CUDA] if torch.cuda.is_initialized() else []))
        T["prof"].__enter__()
    elif T["prof"] and n == DEEP_AT + DEEP_STEPS:
        p, T["prof"] = T["prof"], None
        p.__exit__(None, None, None)
        own = lambda e: max(getattr(e, "self_device_time_total", 0), 0) or e.self_cpu_time_total
        top = sorted(p.key_averages(), key=own, reverse=True)[:8]
        P.event("deep", top=["%s  %.2f ms  %d calls" % (e.key[:80], own(e) / 1e3 / DEEP_STEPS, e.count // DEEP_STEPS) for e in top])
