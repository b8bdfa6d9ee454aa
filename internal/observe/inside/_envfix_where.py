"""What in the loader costs: a thread looks at the main thread's stack, some 200 times in a few seconds, and counts what
runs below the loader's fetch: the job's own line, and what it calls of a library. It needs no right and no signal, is
gone before the process forks, and is no thread of `threading`."""
import _thread, os, sys, time
import _envfix_probe as P
WAITS, MOST, LONGEST = (0.007, 0.011, 0.013), 200, 20.0  # uneven, so that no rhythm of the job's hides from them
FETCH = os.path.join("torch", "utils", "data", "_utils", "fetch.py")
ITEMS = ("__getitem__", "__getitems__", "<listcomp>", "__next__")  # what fetch calls for samples; it calls collate for a batch
WRAPS = ("Compose", "Sequential", "_call_impl", "_wrapped_call_impl", "<lambda>", "_compile_bytecode")

def name(code):
    return getattr(code, "co_qualname", code.co_name)

def spot(f, whole):  # (line of the job's, its function, what of a library it calls, part); None: not in the loader
    frames = []
    while f and not f.f_code.co_filename.endswith(FETCH):
        frames.append(f)
        f = f.f_back
    if not f and not whole or not frames:
        return None
    frames.reverse()  # from fetch inwards; without a loader, from the script
    first = frames[0].f_code
    part = "loop" if not f else "item" if first.co_name in ITEMS or first.co_flags & 0x20 else "collate"
    last = max((i for i, g in enumerate(frames) if P.mine(g.f_code.co_filename)), default=-1)
    inside = [g for g in frames[last + 1:] if not any(w in name(g.f_code) for w in WRAPS) and not P.inner(g)]
    if last < 0:  # a library's data set: the first that is another library's, or a transform
        own = package(frames[0])
        inside = [g for g in inside if package(g) != own or g.f_code.co_name in ("forward", "__call__")] or inside[-1:]
    call = package(inside[0], 2) + name(inside[0].f_code) if inside else ""
    mine = frames[last] if last >= 0 else None
    return (P.named(mine.f_code.co_filename, mine.f_lineno) if mine else "", name(mine.f_code) if mine else "", call, part)

def package(f, words=1):
    module = f.f_globals.get("__name__") or ""
    return module if words == 1 and "." not in module else module.partition(".")[0] if words == 1 else ".".join(module.split(".")[:2]) + "."

def start(worker):
    """Begins to look; returns what ends it and waits until it has."""
    main, told, done = _thread.get_ident(), _thread.allocate_lock(), _thread.allocate_lock()
    told.acquire()
    done.acquire()
    def look():
        try:
            watch(main, told, worker)
        except Exception:
            pass
        done.release()
    def end():
        if told.locked():
            told.release()
        if done.acquire(True, 0.5):
            done.release()
    os.register_at_fork(before=end)  # a process with a second thread may not fork in peace
    _thread.start_new_thread(look, ())
    return end

def watch(main, told, worker):
    counts, seen, looks, told_at, stop = {}, 0, 0, (8, 40), time.monotonic() + LONGEST
    while seen < MOST and time.monotonic() < stop:
        looks += 1
        if told.acquire(True, WAITS[looks % 3]):
            told.release()
            break
        whole = not worker and P.C[P.BATCHES] == 0
        if not worker and not whole and P.C[P.PHASE] == P.USER:
            continue
        s = spot(sys._current_frames().get(main), whole)
        if s:
            seen += 1
            counts[s] = counts.get(s, 0) + 1
            if worker and seen in told_at:  # a worker may be ended without a word
                tell(counts, seen, looks)
    seen and tell(counts, seen, looks)

def tell(counts, seen, looks):
    top = sorted(counts.items(), key=lambda p: -p[1])[:8]
    P.event("where", seen=seen, looks=looks, top=[{"at": k[0][-200:], "func": k[1][-80:], "call": k[2][-80:], "part": k[3], "n": n} for k, n in top])
