"""A closer watch for a few steps: what is moved to the device and read back, from where, what a step's parts take, and
how much of it is Python. Then all of it is taken out again. Loaded by the probe at the fifth step, and never once
torch.compile is at work: dynamo traces Python methods."""
import functools, os, sys
import _envfix_probe as P

def burst():
    P.S["burst"], P.S["mark"] = P.BURST_STEPS, len(P.S["undo"])
    def seen(word):
        P.C[word] += 1
        k = (word, P.line(4), P.line(4, True))
        P.S["lines"][k] = P.S["lines"].get(k, 0) + 1
    def copied(s, r, a, k):  # without a GPU only the job's own moves count: a library moves what may be there already
        meant = not P.inner(sys._getframe(2), "-packages" + os.sep) and ("device" in k or not a or isinstance(a[0], (str, int, P.torch.device)))
        P.S["host"].discard(P.place(s))
        if s.device.type == "cpu" and (r.device.type != "cpu" or meant and P.S["moved"].setdefault((P.C[P.STEPS], id(s)), P.line(3)) == P.line(3)):
            seen(P.COPY if r.device.type != "cpu" else P.CPU_COPY)
    def read(s, r, a, k):  # of what would be on the GPU: not the loader's and torch's own numbers, nor what came and stayed on the CPU
        f = sys._getframe(2)
        would = P.C[P.PHASE] == P.USER and not P.inner(f) and (s.requires_grad or not P.inner(f, "-packages" + os.sep) and P.place(s) not in P.S["host"])
        if s.device.type != "cpu" or would:
            seen(P.CPU_SYNC if s.device.type == "cpu" else P.SYNC)
    def timed(name):  # what a move takes, as Python sees it
        old = getattr(P.torch.Tensor, name)
        def move(s, *a, **k):
            t = P.now()
            try:
                return old(s, *a, **k)
            finally:
                P.S["copying"] += P.now() - t
        P.patch(P.torch.Tensor, name, functools.wraps(old)(move))
    timed("to"), timed("cuda")
    for name in ("to", "cuda", "item", "tolist", "__bool__", "__float__", "__int__", "cpu"):
        P.after(P.torch.Tensor, name, copied if name in ("to", "cuda") else read)
    P.after(P.torch.autocast, "__enter__", lambda s, r, a, k: getattr(s, "_enabled", True) and seen(P.AMP))
    backward = P.torch.Tensor.backward
    P.S.update(begun=P.C[P.LAST], begun_load=P.C[P.LOAD] + P.C[P.EDGE], begun_batches=P.C[P.BATCHES], copying=0, back=0, back_at=0, backs=0,
               forward=0, opt=0, opt_at=0, own={})
    def began(s, *a, **k):  # what a rank does alone ends here: in the backward pass it waits for the others
        t = P.now()
        P.S["own"].setdefault(P.C[P.STEPS], t - P.C[P.LAST])
        P.S["forward"] += t - max(P.C[P.LAST], P.S["back_at"])  # a step that accumulates gradients has several
        try:
            return backward(s, *a, **k)
        finally:
            P.S["back_at"] = P.now()
            P.S["back"], P.S["backs"] = P.S["back"] + P.S["back_at"] - t, P.S["backs"] + 1
    P.patch(P.torch.Tensor, "backward", began)
    pre = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_pre_hook", None)
    if pre:
        P.S["undo"].append(pre(lambda *a: P.S.update(opt_at=P.now())).remove)
    return watch

def parts(t):  # of the burst's steps, in nanoseconds
    load, rest = P.C[P.LOAD] + P.C[P.EDGE] - P.S["begun_load"], P.S["forward"] - P.S["copying"]
    out = {"load": load, "copy": P.S["copying"], "forward": max(0, rest - load), "backward": P.S["back"], "optimizer": P.S["opt"]}
    out["other"] = max(0, t - P.S["begun"] - sum(out.values()))
    return out

def watch():
    if P.S["burst"]:
        P.S["burst"], P.C[P.BURST] = P.S["burst"] - 1, P.C[P.BURST] + 1
        P.S["opt"], P.S["opt_at"] = P.S["opt"] + (P.C[P.LAST] - P.S["opt_at"] if P.S["opt_at"] else 0), 0
        if not P.S["burst"]:
            P.undo(P.S["mark"])
            best = {w: max((n, k[1:]) for k, n in P.S["lines"].items() if k[0] == w)[1] for w in {k[0] for k in P.S["lines"]}}
            copy_at, sync_at = (best.get(a) or best.get(b) or ("", "") for a, b in ((P.COPY, P.CPU_COPY), (P.SYNC, P.CPU_SYNC)))
            P.event("burst", steps=P.C[P.BURST], copy=P.C[P.COPY], sync=P.C[P.SYNC], cpu_copy=P.C[P.CPU_COPY], cpu_sync=P.C[P.CPU_SYNC],
                    batches=P.C[P.BATCHES] - P.S["begun_batches"], backward=P.S["backs"], autocast=P.C[P.AMP],
                    own=sum(P.S["own"].values()), own_least=min(P.S["own"].values(), default=0), copy_at=copy_at[0], copy_own=copy_at[1], sync_at=sync_at[0],
                    sync_own=sync_at[1], parts=parts(P.C[P.LAST]))
            if not P.compiled() and not sys.getprofile() and not sys.gettrace():
                share()
        return
    (spent, on), P.S["share"] = P.S["share"], None
    if sys.getprofile() == on:
        sys.setprofile(None)
    at, most = max(spent[4].items(), key=lambda p: p[1], default=(None, 0))
    P.event("python", share=round(spent[2] / max(spent[2] + spent[3], 1), 3), at=P.named(*at) if at else "", part=round(most / max(spent[2], 1), 3))
    P.C[P.STEPS] < P.BURST_AT + P.BURST_STEPS + P.SHARES and not sys.getprofile() and share()

def share():  # splits one step's time: each moment belongs to the frame on top, of Python or native; its own time is nobody's
    stack, own, spent = [], {}, [P.now(), 0, 0, 0, {}]  # since, events, in Python, in native code, by line
    lines = spent[4]
    def on(frame, kind, arg):
        dt = P.now() - spent[0]
        spent[3 if stack and stack[-1] else 2] += dt
        if not stack or not stack[-1]:
            f = frame.f_back if kind == "call" else frame
            while f and not own.setdefault(f.f_code, P.mine(f.f_code.co_filename)):
                f = f.f_back
            if f:
                k = (f.f_code.co_filename, f.f_lineno)
                lines[k] = lines.get(k, 0) + dt
        if kind in ("call", "c_call"):
            stack.append(kind == "c_call" and getattr(arg, "__module__", None) != "builtins")  # sum(…) runs the job's Python
        elif stack:
            stack.pop()
        spent[1] += 1
        if spent[1] > P.MOST_CALLS:
            sys.setprofile(None)
        spent[0] = P.now()
    P.S["share"] = spent, on
    sys.setprofile(on)
