"""What a user asks for: `--try` compares the loader with a copy of it that has other arguments, in a child of the job that
is gone when it has answered; `--deep` takes one torch.profiler burst. Loaded by the probe only then. The job's own
loader, its numbers at random and its output stay as they are."""
import atexit, collections, copy, hashlib, json, os, pickle, signal, sys, time
import _envfix_probe as P
import torch
TRY, DEEP = os.environ.get("ENVFIX_PROBE_TRY", ""), bool(os.environ.get("ENVFIX_PROBE_DEEP"))
ALLOWED = {"num_workers": int, "pin_memory": lambda s: s == "True", "prefetch_factor": int, "persistent_workers": lambda s: s == "True"}
TRY_AT, BATCHES, SECONDS, DEEP_AT, DEEP_STEPS = 12, 60, 6.0, 15, 3
T = {"loader": None, "done": not TRY, "prof": None}

def made(loader):
    if not P.S["eval"]:
        T["loader"] = loader

def on_step(n):
    if DEEP and n >= DEEP_AT:
        deep(n)
    if not T["done"] and n >= TRY_AT and T["loader"] is not None:
        T["done"], t = True, P.now()
        try:
            P.event(**{"try": {"args": TRY, **asked(T["loader"])}})
        except Exception as e:
            P.event(**{"try": {"args": TRY, "error": repr(e)[:300]}})
        t = P.now() - t  # which is no time of the job's
        P.C[P.LAST], P.C[P.WARM_AT] = P.C[P.LAST] + t, P.C[P.WARM_AT] + t

def unfinished():
    if not T["done"]:
        P.event(**{"try": {"args": TRY, "error": "the job ended before its DataLoader could be compared: it takes %d steps" % TRY_AT}})

atexit.register(unfinished)

def asked(loader):
    """What a child of this process found, which computes nothing of the job's and writes nowhere."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(8 * SECONDS))
            P.undo(0)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            torch.set_num_threads(1)
            try:
                out = compared(loader)
            except Exception as e:
                out = {"error": repr(e)[:300]}
            os.write(w, json.dumps(out).encode())
        finally:
            os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        text = f.read()
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass
    return json.loads(text) if text else {"error": "it took longer than %d s" % (8 * SECONDS)}

def compared(loader):
    changes = {}
    for part in TRY.split(","):
        name, _, value = part.strip().partition("=")
        changes[name] = ALLOWED[name](value)
    changes.pop("persistent_workers", None), changes.pop("pin_memory", None)  # what they change, a copy without a GPU does not show
    if not changes:
        raise ValueError("a copy of the loader shows num_workers and prefetch_factor alone")
    before, first = measured(loader, {}, None)
    after, then = measured(loader, changes, len(first))
    n = min(len(first), len(then))
    told = {"steps": before[0], "before_s": before[1], "after_s": after[1], "load_before_s": before[1], "load_after_s": after[1], "samples_before": before[2], "samples_after": after[2]}
    if isinstance(loader.dataset, torch.utils.data.IterableDataset):  # workers may take turns otherwise: what comes twice tells
        twice = lambda seen: sum(c - 1 for c in collections.Counter(seen).values())
        return {**told, "compared": n, "repeated": max(0, twice(then[:n]) - twice(first[:n]))}
    return {**told, "compared": n, "differ": sum((collections.Counter(first[:n]) - collections.Counter(then[:n])).values())}

class Asked:
    """A sampler that keeps what it said."""
    def __init__(self, inner):
        self.inner, self.said = inner, []
    def __iter__(self):
        for i in self.inner:
            self.said.append(i)
            yield i
    def __len__(self):
        return len(self.inner)

def plain(r):
    """A record without its tensors' pickles, which hold the time."""
    if isinstance(r, torch.Tensor):
        return str(r.dtype), tuple(r.shape), r.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
    if isinstance(r, dict):
        return [(k, plain(v)) for k, v in r.items()]
    return [plain(x) for x in r] if isinstance(r, (list, tuple)) else r

class Digest:
    """A collate_fn that says beside each batch what the records in it were."""
    def __init__(self, inner, one):
        self.inner, self.one = inner, one
    def __call__(self, rows):
        return [hashlib.blake2b(pickle.dumps(plain(r), 4), digest_size=12).hexdigest() for r in ([rows] if self.one else rows)], self.inner(rows)

def measured(loader, changes, least):
    """(batches, seconds a batch, samples a second) of a copy once it runs, and the samples from its first on."""
    new = copy.copy(loader)
    new.__dict__.update({**changes, "pin_memory": False, "persistent_workers": False, "_iterator": None})
    new.__dict__["prefetch_factor"] = (new.prefetch_factor or 2) if new.num_workers else None
    stream, sampler = isinstance(loader.dataset, torch.utils.data.IterableDataset), None
    if stream:
        new.__dict__["collate_fn"] = Digest(new.collate_fn, loader.batch_size is None)
    else:
        which = "batch_sampler" if loader._auto_collation else "sampler"
        sampler = new.__dict__[which] = Asked(getattr(loader, which))
    kept = kept_states(loader)
    skip, seen, n, count, t0 = new.num_workers * (new.prefetch_factor or 0) + 1, [], 0, 0, time.monotonic()
    for b in iter(new):
        n += 1
        if stream:
            seen += b[0]
        if n == skip:
            count, t0 = len(seen), time.monotonic()
        if n - skip >= BATCHES or n > skip and time.monotonic() - t0 > SECONDS and (least is None or n * (loader.batch_size or 1) >= least):
            break
    if n <= skip + 1:
        raise ValueError("an epoch is too short to compare: %d batches" % n)
    took = time.monotonic() - t0
    if not stream:
        said = [s if isinstance(s, (list, tuple)) else [s] for s in sampler.said[:n]]
        seen, count = [str(i) for s in said for i in s], sum(map(len, said[:skip]))
    for restore in kept:
        restore()
    return (n - skip, took / (n - skip), (len(seen) - count) / took), seen

def kept_states(loader):
    """What sets the numbers at random back, so that both loaders draw the same."""
    import random
    found = {id(g): g for s in (loader, loader.sampler, getattr(loader.batch_sampler, "sampler", None)) for g in [getattr(s, "generator", None)] if g is not None}
    out = [lambda g=g, s=g.get_state(): g.set_state(s) for g in found.values()]
    out.append(lambda s=torch.get_rng_state(): torch.set_rng_state(s))
    out.append(lambda s=random.getstate(): random.setstate(s))
    numpy = sys.modules.get("numpy")
    if numpy:
        out.append(lambda s=numpy.random.get_state(): numpy.random.set_state(s))
    return out

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
        P.C[P.WARM], P.C[P.WARM_LOAD], P.S["warm"] = n, P.C[P.LOAD], True  # these steps, and the garbage that they left, are not the job's
        P.C[P.LAST] = P.C[P.WARM_AT] = P.now()
        P.event(deep_kernels=kernels, deep=["%8.2f ms %5d × %s" % (own(e) / 1e3 / DEEP_STEPS, max(1, e.count // DEEP_STEPS), e.key[:80]) for e in top if own(e) > 0])
