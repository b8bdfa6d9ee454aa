"""A closer watch for a few steps: what is moved to the device and read back, and from where. Then all of it is taken out
again. Loaded by the probe at the fifth step, and never once torch.compile is at work: dynamo traces Python methods."""
import os, sys
import _envfix_probe as P
COPY, CPU_COPY, SYNC, CPU_SYNC, AMP = range(5)

def burst():
    P.S["burst"], P.S["mark"] = P.BURST_STEPS, len(P.S["undo"])
    def seen(word):
        k = (word, P.line(4), P.line(4, True))
        P.S["lines"][k] = P.S["lines"].get(k, 0) + 1
    def copied(s, r, a, k):  # without a GPU only the job's own moves count: a library moves what may be there already
        meant = not P.inner(sys._getframe(2), "-packages" + os.sep) and ("device" in k or not a or isinstance(a[0], (str, int, P.torch.device)))
        P.S["host"].discard(P.place(s))
        if s.device.type == "cpu" and (r.device.type != "cpu" or meant and P.S["moved"].setdefault((P.C[P.STEPS], id(s)), P.line(3)) == P.line(3)):
            seen(COPY if r.device.type != "cpu" else CPU_COPY)
    def read(s, r, a, k):  # of what would be on the GPU: not the loader's and torch's own numbers, nor what came and stayed on the CPU
        f = sys._getframe(2)
        would = P.C[P.PHASE] == P.USER and not P.inner(f) and (s.requires_grad or not P.inner(f, "-packages" + os.sep) and P.place(s) not in P.S["host"])
        if s.device.type != "cpu" or would:
            seen(CPU_SYNC if s.device.type == "cpu" else SYNC)
    for name in ("to", "cuda", "item", "tolist", "__bool__", "__float__", "__int__", "cpu"):
        P.after(P.torch.Tensor, name, copied if name in ("to", "cuda") else read)
    P.after(P.torch.autocast, "__enter__", lambda s, r, a, k: getattr(s, "_enabled", True) and seen(AMP))
    calls = P.S["calls"] = {}
    hook = getattr(sys.modules.get("torch.nn.modules.module"), "register_module_forward_pre_hook", None)  # public, and gone with the rest
    hook and P.S["undo"].append(hook(lambda s, a: calls.update({id(s): calls.get(id(s), 0) + 1})).remove)
    P.S.update(begun_batches=P.C[P.BATCHES], backs=0)
    P.after(P.torch.Tensor, "backward", lambda s, r, a, k: P.S.update(backs=P.S["backs"] + 1))  # a step that accumulates gradients has several
    return watch

def watch():
    P.S["burst"] -= 1
    if P.S["burst"]:
        return
    P.undo(P.S["mark"])
    seen = [[(n, k[1:]) for k, n in P.S["lines"].items() if k[0] == word] for word in range(5)]
    times = [sum(n for n, _ in at) for at in seen]
    copy_at, sync_at = (max(seen[a] or seen[b], default=(0, ("", "")))[1] for a, b in ((COPY, CPU_COPY), (SYNC, CPU_SYNC)))
    calls = sorted(P.S["calls"].values()) or [0]
    batches, backs = P.C[P.BATCHES] - P.S["begun_batches"], P.S["backs"]
    cpu = not (P.torch.cuda.is_initialized() or times[COPY] or times[SYNC])  # what they would be with a GPU
    P.event(burst={"steps": P.BURST_STEPS, "copies": times[CPU_COPY if cpu else COPY], "syncs": times[CPU_SYNC if cpu else SYNC], "on_cpu": cpu,
                   # each pass takes a batch, and may have more than one loss; a loop without a DataLoader is known by its losses, unless optimizers take turns
                   "passes": min(batches, backs) or batches or (0 if P.S["turns"] else backs), "autocast": times[AMP], "calls": calls[len(calls) // 2],
                   "copy_at": copy_at[0], "copy_own": copy_at[1], "sync_at": sync_at[0], "sync_own": sync_at[1]})
