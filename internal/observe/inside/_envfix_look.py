"""What the loop does, and a worker of its loader: a thread looks at its stack now and then, ever more seldom, and adds up
the time by part of the loop, by the job's own line and by what that calls. It needs no right and no signal, is gone while
the process forks, and is no thread of `threading`. It gets the GIL where Python lets it go, which the collector
does at its end alone, in gc.callbacks. Before a look the GIL is asked for after 0.1 ms rather than 5, or short Python, and a call of C
that takes 3 ms, would pass for the call of torch's that follows: always where no other thread might ask for it, else for a moment."""
import _thread, builtins, gc, linecache, opcode, os, re, sys
import _envfix_probe as P
SHORTEST, LONGEST, SPREAD, TOP = 0.008, 5.0, 250, 10  # seconds between looks: a SPREADth of the time since the loop began
USUAL, SOON, LATER, NEAR = 0.005, 0.000125, 0.001, 0.01  # seconds until the GIL is asked for: Python's own, that for a look, that where calls hold it long; how long before it at most
HERE, TORCH = os.path.dirname(os.path.abspath(__file__)) + os.sep, ("torch.", "torch_")
CALLS = {n for name, n in opcode.opmap.items() if name.startswith(("CALL", "PRECALL", "POP_TOP")) and "INTRINSIC" not in name}  # dropping a result ends what it is
OPERATORS = {n for name, n in opcode.opmap.items() if name.startswith(("BINARY_", "INPLACE_", "UNARY_", "COMPARE_", "STORE_SUBSCR"))}
ITEMS = ("__getitem__", "__getitems__", "<listcomp>", "__next__")  # what fetch calls for samples; it calls collate for a batch
INLINE = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")  # a part of the function in which they stand, as from Python 3.12 on
WRAPS = ("Compose", "Sequential", "_call_impl", "_wrapped_call_impl", "<lambda>", "_compile_bytecode")
OVER, STEP, WAITS = ("saving", "logging", "metrics"), ("forward", "backward", "optimizer", "copy"), ("data", "between", "forward", "optimizer", "collate", "sampler")
# What a function is for: by the place that it has in a library, else by the words of its name and, in libraries, its file's.
PLACES = [(k, tuple(names.split())) for k, names in (
    ("compile", "torch._dynamo.convert_frame."), ("starts", "subprocess."), ("", "torch.utils.checkpoint. torch.distributed.algorithms."), ("item", "torch.utils.data._utils.fetch."),
    ("data", "queue.get multiprocessing.queues.get multiprocessing.pool. multiprocessing.connection. concurrent.futures. joblib. selectors. "
     "PIL.Image.open PIL.Image.convert PIL.Image.resize PIL.Image.thumbnail h5py._hl.dataset.__getitem__"),
    ("net", "requests. urllib3. urllib. http. httpx. httpcore. aiohttp. botocore. ssl. socket."),
    ("sampler", "torch.utils.data.sampler. torch.utils.data.dataloader._next_index"), ("backward", "torch._tensor.backward torch.autograd.backward torch.autograd.grad torch._functorch.eager_transforms."),
    ("optimizer", "torch.optim."), ("forward", "torch.nn.modules.module._call_impl torch.nn.modules.module.__call__ torch.distributions."),
    ("saving", "torch.serialization.save torch.serialization._save torch.distributed.checkpoint. safetensors. h5py._hl.group.create_dataset h5py._hl.dataset.__setitem__"),
    ("logging", "torch.utils.tensorboard. tensorboard. tensorboardX. logging. wandb. mlflow. tqdm. rich. matplotlib. seaborn. plotly. comet_ml. neptune. "
     "clearml. aim. visdom. loguru. json.dump json.encoder. csv.write csv._dict_to_list pandas.core.generic.to_ torch._tensor_str. numpy._core.arrayprint. numpy.core.arrayprint. pandas.io.formats."), ("", "torch."),
    ("metrics", "sklearn.metrics. torchmetrics. torcheval. evaluate. nltk. rouge_score. sacrebleu. jiwer. pycocotools. seqeval. scipy.stats."))]
WORDS = [(k, set(words.split())) for k, words in (
    ("saving", "save saving savez savetxt imwrite dump checkpoint checkpoints ckpt snapshot"), ("logging", "log logs logger logging print plot report tensorboard"),
    ("metrics", "metric metrics accuracy acc auc auroc f1 bleu rouge meteor iou confusion fid kid frechet psnr ssim wer cer perplexity recall ndcg"), ("evaluation", "eval evaluate evaluation validate validation valid val"),
    ("optimizer", "optim optimizers"), ("copy", "to_device cuda"), ("forward", "forward"))]
EVALUATES = {*WORDS[3][1], "log", "run", "do", "model", "epoch", "loop", "one", "set", "step"}
WRITES, LOGS = {"write", "writelines", "writerow", "fsync", "tofile", "create_dataset"}, {"log", "logs", "logger", "report", "stdout", "stderr"}
SENDS = {"post", "put", "patch", "send", "upload", "push", "publish"}  # to a server, where nothing is made of its answer
FEEDS = {"batch", "batches", "minibatch", "inputs", "images"}
BLOCKS = {"acquire", "wait", "get", "put", "sleep", "select", "poll", "recv", "accept", "join", "read", "readline"}
READS = {"imread", "imdecode", "read", "readline", "load", "loads", "open", "recv", "download"}
GETS, GOT = {"get", "load", "read", "next", "fetch", "make", "sample", "prepare", "build", "augment", "tokenize"}, {
    "batch", "batches", "data", "sample", "samples", "example", "examples", "image", "images", "item", "items", "frame", "record"}
READABLE = sys.version_info[:2] not in ((3, 11), (3, 12))  # there a frame that another thread runs may end while its f_locals are copied
L = {"on": False, "known": {}, "names": {}, "late": 0, "had": {}, "idle": set(), "gc_since": 0, "alone": False}

def name(code):
    return getattr(code, "co_qualname", code.co_name)

def words(text):
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d?", text)]

def facts(f):  # (is it the job's own, what is it for, its module); kept for each code
    code = f.f_code
    got = L["known"].get(code)
    if not got:
        module = f.f_globals.get("__name__") or ""
        own = P.mine(code.co_filename) and (code.co_filename[:1] != "<" or module == "__main__")  # libraries make code of strings
        kind = None if own else next((k for k, at in PLACES if (module + "." + code.co_name + ".").startswith(at)), None)
        if kind is None:
            said = words(code.co_name) + ([] if own else words(module.rpartition(".")[2]))
            found = [k for k, w in WORDS if w & set(said)]
            kind = found[-1] if len(found) == 1 or found == ["logging", "evaluation"] else "logging" if found == ["logging", "metrics"] else "data" if not own and READS & set(said) and not found else ""
            if kind == "logging" and own and {"prob", "probs", "likelihood", "softmax", "sum"} & set(said):
                kind = ""
            if own and not kind and (said[:1] and said[0] in GETS and GOT & set(said[1:] or said) or code.co_flags & 0x20 and code.co_name[:1] != "<"):
                kind = "data"
        if code in P.S["loop"] and kind in (*OVER, "evaluation", "data", "forward"):  # whatever it is called: the steps are taken in it
            kind = ""
        if module.startswith("PIL.") and module.endswith("ImagePlugin") and code.co_name != "_accept":  # each plugin is asked
            L["formats"].add(module[4:-11].upper())
        got = L["known"][code] = own, kind, module
    return got

def line(f):  # there is code that belongs to none, such as the end of a loop in Python 3.11: that of what stands before it
    before = () if f.f_lineno else (n for start, _, n in reversed([*f.f_code.co_lines()]) if n and start <= f.f_lasti)
    return f.f_lineno or next(before, f.f_code.co_firstlineno)

def source(f):
    return linecache.getline(f.f_code.co_filename, line(f))

def native(f):  # what a frame on top calls of C, as its source has it: gc.collect, .item; ".?" a tensor's, most likely; "" Python
    code, at = f.f_code, f.f_lasti
    got = L["names"].get((code, at))
    if got is None:
        op = code.co_code[at] if at >= 0 else None
        got = L["names"][code, at] = spelled(f, code, at) if op in CALLS else ".?" if op in OPERATORS else ""
    return got

def spelled(f, code, at):
    text = source(f)
    if hasattr(code, "co_positions"):
        where = next((p for i, p in enumerate(code.co_positions()) if i == at // 2), None)
        if where and where[2] is not None and where[0] == f.f_lineno:
            text = text.encode()[where[2]:where[3] if where[1] == where[0] else None].decode(errors="replace")
            if "(" not in text:  # the end of a with block
                return ".?"
    calls = re.findall(r"([A-Za-z_.][\w.]*|(?<=[)\]])\.\w+)\s*\(", text)
    if not calls:
        return ".?"
    said = calls[0] if text.startswith(calls[0]) and text.count("(") == 1 else calls[-1] if not hasattr(code, "co_positions") else outer(text)
    root, _, rest = said.partition(".")
    it = f.f_globals.get(root, getattr(builtins, root, None))
    if isinstance(it, type(os)):
        return "%s.%s" % (it.__name__, rest)
    if it is not None and not rest:
        return "%s.%s" % (getattr(it, "__module__", None) or "builtins", root)
    return "." + said.rpartition(".")[2]

def outer(text):  # the name before the parenthesis that the expression's last one closes
    depth = 0
    for i in range(len(text.rstrip()) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if not depth:
            return (re.findall(r"[A-Za-z_.][\w.]*$", text[:i].rstrip()) or [".?"])[0]
    return ".?"

def called(frames):  # what of a library runs, from outside inwards: the first that only wraps nothing
    inside = [g for g in frames if not any(w in name(g.f_code) for w in WRAPS) and not P.inner(g)]
    base = inside and not READABLE and owner(inside[0])  # a chain's steps share a base's method: the step is the class below it
    step = [g for g in inside[1:] if base and owner(g) and owner(g) is not base and issubclass(owner(g), base)]
    return whole((step or inside)[0]) if inside else ""

def owner(f):  # the class in which a method stands
    cls = f.f_globals.get(name(f.f_code).partition(".")[0])
    return cls if isinstance(cls, type) else None

def whole(f):
    module, qual = f.f_globals.get("__name__") or "", name(f.f_code)
    if READABLE and f.f_code.co_name in ("__call__", "forward", "apply") and f.f_code.co_varnames[:1] == ("self",) and L["fetching"]:
        qual = "%s.%s" % (type(f.f_locals.get("self")).__name__, f.f_code.co_name)  # each step of a chain has it; a model's frames hold much, and reading keeps it
    return ".".join(module.split(".")[:2]) + "." + qual

def frames():
    return stacks([P.S["thread"]])[P.S["thread"]]

def stacks(threads=None):  # of these threads, or of all but the loop's and this one, innermost first
    on = gc.isenabled()
    gc.disable()  # Python 3.11 makes an object for each frame, and where that starts a collection, what it calls lets the frame end meanwhile
    try:
        every, out = sys._current_frames(), {}
        del every[_thread.get_ident()]  # this frame, which holds it: a ring would keep what the job's frames hold
        for t in threads or every.keys() - {P.S["thread"]}:
            f, out[t] = every.get(t), []
            while f:
                out[t].append(f)
                f = f.f_back
        return out
    finally:
        on and gc.enable()

def spot(stack, worker):  # (part, file, line, function, call); None: a worker that has nothing to do, Python that imports, or the probe
    hears = stack[0].f_code is on_gc.__code__  # there the GIL is let go: by a collection, or by C that ran before one of microseconds
    collects = hears and L["gc_since"] and P.now() - L["gc_since"] > 1000000
    if stack[0].f_code.co_filename.startswith(HERE) and not hears or any(g.f_code.co_filename.startswith("<frozen importlib") for g in stack):
        return None
    stack = [g for g in stack if not g.f_code.co_filename.startswith(HERE)]
    known = [facts(g) for g in stack]
    fetch = next((i for i, k in enumerate(known) if k[1] == "item"), None)
    if worker and fetch is None:
        return None
    L["fetching"] = fetch is not None and not (P.S["eval"] and not worker)
    if L["fetching"]:
        return loaded(stack[:fetch], known)
    over = [i for i, k in enumerate(known) if k[1] in OVER]
    part = next((k[1] for k in known if k[1] in STEP), "")
    cut = None
    if any(k[1] == "compile" for k in known):
        part, cut = "compile", max(i for i, k in enumerate(known) if k[1] == "compile")
    elif over and not (worker or P.C[P.PHASE]):
        part, cut = known[over[-1]][1], over[-1]
    elif evaluates(stack, known, part):
        part, cut = "evaluation", max([i for i, k in enumerate(known) if k[1] in ("forward", "evaluation")], default=None)
    elif P.C[P.PHASE]:
        part = "sampler" if any(k[1] == "sampler" for k in known) else "load"
    if cut is not None and known[cut][0]:  # a function of the job's own that says what it does: the line in it, and outside of the model
        cut = max((i for i, k in enumerate(known[:cut]) if part == "evaluation" and k[1] == "forward"), default=None)
    for g, k in zip(stack, known) if part == "forward" else ():
        if k[0] and k[1] == "data":  # it calls the model, so it brings no input: it samples, or generates
            L["known"][g.f_code] = True, "", k[2]
            return spot(stack, worker)
    top = next((i for i, k in enumerate(known) if k[0] and (cut is None or i > cut)), None)
    own = stack[top] if top is not None else None
    inside = stack[:top][::-1] if own else stack[::-1]
    call = native(own) if top == 0 else whole(stack[cut]) if cut is not None and known[cut][1] != "forward" else "" if cut is not None else called(inside)
    reach = [k[1] for i, k in enumerate(known) if k[0] or top is None or i < top]  # a server's library calls what answers
    sends = "net" in reach and SENDS & {w for g in stack for w in words(g.f_code.co_name)} and any(re.match(r"\s*(await )?[\w.]+\(", t) for t in lines(stack, known))
    fetches = (own and "data" in [k[1] for k in known if k[0]]) or "starts" not in reach and ("data" in reach or "net" in reach and not sends)  # who waits for a program does what that does
    if part in ("", *STEP) and own:  # work of the job's own that is not torch's, and no framework's that runs the loop
        kind = next((k for k, w in WORDS if top == 0 and w & set(words(call)) - {"log"}), "")  # C's log is a logarithm
        if kind in OVER:
            part = kind
        elif sends or top == 0 and WRITES & {*words(call), call[1:]} or call == "io.open" and re.search(r"[\"'][wax]", source(own)):
            said = set(words(source(own)))
            part = "logging" if LOGS & said or sends and not said & {"upload", *WORDS[0][1]} else "saving"
        elif top == 0 and call.rpartition(".")[2] in ("to", "cuda", "pin_memory"):
            part = "copy"
        elif top == 0 and call in (".item", ".tolist", ".cpu", ".numpy", "torch.cuda.synchronize"):
            part = "sync"
        elif fetches or top == 0 and READS & set(words(call)):
            part = "data"
        elif top == 0 and (own.f_code, own.f_lineno) == P.S["next"]:
            part = ""
        elif top == 0 and not (call.startswith(TORCH) or call[:1] == "." and (call == ".?" or hasattr(P.torch.Tensor, call[1:]))) or top and (
                known[top - 1][2] == "copy" or not any(k[2].startswith(TORCH) or k[2].partition(".")[0] in P.S["via"] for k in known[:top])):
            part = "python"
    if not part and fetches:
        part = "data"
    if part in ("", "python") and own:
        part = meant(stack, known) or part
    said = next((g for g, k in zip(stack[top:], known[top:]) if k[0] and g.f_code.co_name not in INLINE), own) if own else None
    return ("gc" if collects else part or "between",) + ((own.f_code.co_filename, line(own), name(said.f_code)) if own else ("", 0, "")) + (call,)

def lines(stack, known):  # of the job's own, from inside out to the loop
    for g in [g for g, k in zip(stack, known) if k[0]][:3]:
        yield source(g)
        if g.f_code in P.S["loop"]:
            return

def meant(stack, known):  # by the name that those lines give to what they compute
    for text in lines(stack, known):
        to = re.match(r"\s*([\w.\[\]'\", ]+?)\s*[-+|]?=[^=]", text)
        said = set(words(to[1] if to else ""))
        kind = next((k for k, w in WORDS if k in OVER and w & said), "data" if FEEDS & said else "")
        if kind:
            return kind

def since(task):  # how long a thread had a processor, and queued for one, since the last look, in microseconds, as Linux counts
    try:
        with open("/proc/self/task/%d/schedstat" % task) as f:
            was, L["had"][task] = L["had"].get(task), [int(n) // 1000 for n in f.read().split()[:2]]
        return was and [b - a for a, b in zip(was, L["had"][task])]
    except (OSError, TypeError):
        return None

def slept(dt):  # of so many microseconds; a look itself finds the loop awake, where that has just let the GIL go. Who sleeps for the GIL queues each time
    ran, queued = since(P.S["tid"]) or (dt, 0)
    idle = max(0, dt - ran - queued)
    return dt * idle // max(idle + ran, 1)

def blocked(t, stack, dt):  # hardly runs, or, where that is not known, is in a call that waits for another thread, for data or for time
    thread = getattr(sys.modules.get("threading"), "_active", {}).get(t)
    used = since(getattr(thread, "native_id", None))
    return 10 * used[0] < dt if used else bool(BLOCKS & set(words(native(stack[0]))))

def rest(dt):  # do all other threads?
    every = stacks()
    L["idle"] = {t for t, stack in every.items() if not stack or blocked(t, stack, dt)}
    return len(L["idle"]) == len(every)

def beside(s):  # what another thread of the job's does while the loop sleeps: for what that brings, or for the GIL, which that holds
    for stack in (stack for t, stack in stacks().items() if t not in L["idle"] and stack):
        own = next((g for g in stack if facts(g)[0] and g.f_code.co_name[:1] != "<"), None)
        kind = next((facts(g)[1] for g in stack if facts(g)[1] in OVER), "data" if s[0] == "data" else "python")
        if own or kind in OVER:
            at = own and (own.f_code.co_filename, line(own), name(own.f_code)) or ("", 0, "")
            return (kind, *at, name((own or stack[-1]).f_code) + " in another thread")
    return s

def loaded(stack, known):  # below the loader's fetch, innermost first
    first = stack[-1].f_code if stack else None
    part = "item" if not first or first.co_name in ITEMS or first.co_flags & 0x20 else "collate"
    top = next((i for i, k in enumerate(known[:len(stack)]) if k[0]), None)
    inside = stack[:top][::-1] if top is not None else stack[::-1]
    if top is None and inside:  # a library's data set: the first that is another library's, or a transform
        own = (inside[0].f_globals.get("__name__") or "").partition(".")[0]
        inside = [g for g in inside if (g.f_globals.get("__name__") or "").partition(".")[0] != own or g.f_code.co_name in ("forward", "__call__")] or inside[-1:]
    g = stack[top] if top is not None else None
    call = native(g) if top == 0 else called(inside)
    return (part,) + ((g.f_code.co_filename, line(g), name(g.f_code)) if g else ("", 0, "")) + (call,)

def evaluates(stack, known, part):  # the validation loader's batches, a model after eval(), or a function that says so; one that says more and calls a model trains
    if P.C[P.UNIT] < P.BACKWARD or part in ("backward", "optimizer"):
        return False
    return P.S["eval"] or P.S["evals"] and part == "forward" or any(k[1] == "evaluation" and (not part or k[0] and not {*words(g.f_code.co_name)} - EVALUATES) for g, k in zip(stack, known))

def on_gc(phase, info):
    try:
        if phase == "start":
            L["gc_at"], L["gc_since"] = P.cpu(), P.now()  # of the processor: in a crowd the collector waits for one like everybody
            return
        dt = P.cpu() - L.get("gc_at", P.cpu())
        if dt > 1000000:
            k = P.line(2, True)
            L["gc_lines"][k] = L["gc_lines"].get(k, 0) + dt // 1000
            L["gc_times"] += 1
        L["gc_since"] = 0
    except Exception:
        pass

def on_mode(s, r, a, k):  # eval() comes to train(False) however a class has made it; that calls itself for every module, and the first call ends last
    mode = (*a, k.get("mode", True))[0]
    if sys._getframe(2).f_code is not L["train"] and (mode or not P.S["trained"] or any(id(p) in P.S["trained"] for p in s.parameters())):
        P.S["evals"] = not mode  # but a teacher, or the target of a step, evaluates nothing

def start(worker=False):
    """Begins to look at the thread that P.S["thread"] names; returns what ends it and tells the last."""
    P.S.update(thread=_thread.get_ident(), tid=_thread.get_native_id())
    L.update(on=True, worker=worker, shape=0, model=False)
    begin()
    if not worker:
        gc.callbacks.append(on_gc)
        L["train"] = P.torch.nn.Module.train.__code__
        P.after(P.torch.nn.Module, "train", on_mode)
    again()
    return end

def begin():  # what was seen before the loop was warm counts for nothing
    t = P.now()
    L["known"].clear(), L["had"].clear()
    L.update(begun=t, last=t, since=0, looks=0, sums={}, pending={}, step=P.C[P.STEPS], formats=set(), tell=8, tell_at=t + 3 * 10**9, gc_times=0, gc_lines={})

def again():
    try:
        if L["on"] and "told" not in L:
            told, done = L["told"], L["done"] = _thread.allocate_lock(), _thread.allocate_lock()
            told.acquire(), done.acquire()
            _thread.start_new_thread(run, (told, done))
    except Exception:
        L["on"] = False

def stop():
    told = L.pop("told", None)
    if told:
        told.release()
        L["done"].acquire(True, 0.5)

def child():
    L["on"], L["worker"] = False, True
    L.pop("told", None)
    on_gc in gc.callbacks and gc.callbacks.remove(on_gc)

def end():
    on, L["on"] = L["on"], False
    stop()
    on_gc in gc.callbacks and gc.callbacks.remove(on_gc)
    on and L["looks"] and tell()

os.register_at_fork(before=stop, after_in_parent=again, after_in_child=child)  # a process with a second thread may not fork in peace

def patient(usual):  # what the job itself set stays
    if sys.getswitchinterval() in (USUAL, SOON, LATER):
        sys.setswitchinterval(USUAL if usual else LATER if L["late"] > NEAR / 2 else SOON)  # asking costs the loop

def run(told, done):
    try:
        n = 0
        while True:
            n, t = n + 1, P.now()
            wait = min(LONGEST, max(SHORTEST, (P.now() - L["begun"]) / 1e9 / SPREAD)) * (0.5 + n * 0.618 % 1)  # uneven: no rhythm hides from it
            alone = L["alone"] or _thread._count() == 1
            patient(not alone)
            if told.acquire(True, wait):
                break
            L["late"] = max((P.now() - t) / 1e9 - wait, L["late"] * 0.8)
            if not alone:  # this thread came late, so what runs now is no sample
                patient(False)
                if told.acquire(True, NEAR * (n * 0.414 % 1)):
                    break
            look()
    except Exception:
        pass
    patient(True)
    done.release()

def look():
    if P.S["warm"]:
        P.S["warm"] = False
        begin()
    t, stack = P.now(), frames()
    dt, L["last"] = (t - L["last"]) // 1000, t
    if not stack or dt < 0:
        return
    L["looks"] += 1
    into, n = L["pending"], P.C[P.STEPS]
    s = spot(stack, L["worker"])
    others = _thread._count() > 1
    L["alone"] = others and rest(dt)  # they ask for no GIL, such as the thread that draws a bar
    asleep = slept(dt) if not L["worker"] and others else 0
    waits = s and (s[0] in WAITS or s[0] == "backward" and not P.torch.cuda.is_initialized())  # a GPU's backward pass runs in a thread of torch's
    if s and s[0] in STEP and not (P.C[P.UNIT] or L["model"]):  # a loop without steps begins as its model is first called
        L["model"] = True
        return begin()
    for s, dt in [(beside(s), asleep), (s, dt - asleep)] if asleep and waits else [(s, dt)] if s else []:
        got = into.setdefault(s, [0, 0])
        got[0], got[1] = got[0] + dt, got[1] + dt * dt
    L["since"] += 0 if s else dt
    if L["worker"] or n != L["step"] or L["model"] and not P.C[P.UNIT]:  # what precedes the model's first call, or follows the last step, is no part of the loop
        for k, v in into.items():
            got = L["sums"].setdefault(k, [0, 0])
            got[0], got[1] = got[0] + v[0], got[1] + v[1]
        L.update(pending={}, step=n)
    if L["looks"] >= L["tell"] and (L["looks"] < 200 or t > L["tell_at"]):  # a process may be ended without a word
        L.update(tell=4 * L["looks"] if L["looks"] < 200 else 0, tell_at=L["begun"] + (t - L["begun"]) * 3 // 2)
        tell()

def tell():
    sums, parts = L["sums"], {}
    top = sorted(sums.items(), key=lambda p: -p[1][0])
    for k, v in top:
        parts[k[0]] = parts.get(k[0], 0) + v[0]
    seen, line = sum(parts.values()), max(L["gc_lines"].items(), key=lambda p: p[1], default=("", 0))[0]
    busy = [k for k, _ in top[:TOP]] + [next(k for k, _ in top if k[0] == p) for p in parts]
    made = [m for m in getattr(sys.modules.get("torch._dynamo.utils"), "get_compilation_metrics", list)()]
    last = next((m for m in reversed(made) if getattr(m, "recompile_reason", None)), None)
    P.event(where=dict(compiles=sum(bool(m.co_name) for m in made), compile_s=sum(getattr(m, "duration_us", 0) or 1e6 * (m.entire_frame_compile_time_s or 0) for m in made) / 1e6,
            compile_at=last and "%s (%s:%s)" % (last.co_name, last.co_filename, last.co_firstlineno) or "",
            reason=re.sub(r"\s*# .*|\n(?s:.*)", "", (last and last.recompile_reason or "").strip())[:180], seen=seen, looks=seen + L["since"], count=seen * seen // max(sum(v[1] for _, v in top), 1), parts=parts, gc_times=L["gc_times"], gc_us=sum(L["gc_lines"].values()),
            gc_at=line[-160:],
            top=[{"at": P.named(k[1], k[2])[-160:] if k[1] else "", "func": k[3][-60:], "call": k[4][-80:] + (" (%s)" % [*L["formats"]][0] if k[4].startswith("PIL.") and len(L["formats"]) == 1 else ""), "part": k[0], "n": sums[k][0]} for k in dict.fromkeys(busy)]))
