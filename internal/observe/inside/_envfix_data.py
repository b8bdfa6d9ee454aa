"""What a loader's data set is made of: whether several workers can read it, and whether it stays the same. Loaded by the
probe as the first loader is made."""
import contextlib, sys
import _envfix_probe as P
SHARED = "socket", "h5py", "sqlite3", "lmdb", "netCDF4", "tables"  # what these open belongs to one process

def opened(it):  # is it what processes that were forked would share: a file's position, a connection?
    with contextlib.suppress(Exception):
        root = type(it).__module__.partition(".")[0].strip("_")
        if root in SHARED or hasattr(type(it), "fileno") and it.readable():
            return "%s.%s" % (root, type(it).__name__)

def forks():  # are workers copies of this process, not a Python that runs the script's body again?
    mp = sys.modules.get("multiprocessing")
    return (mp and mp.get_start_method(True) or ("fork" if sys.platform == "linux" and sys.version_info < (3, 14) else "spawn")) == "fork"

def built(loader):
    """What more workers would do to it: in the names of verdict.Loader."""
    todo, out = [loader.dataset, getattr(loader, "worker_init_fn", None)], {"anew": not forks()}
    for it in todo:
        if it is not None and len(todo) <= 60 and not isinstance(it, (str, bytes, int, float, dict, P.torch.Tensor, type)):
            with contextlib.suppress(Exception):
                todo += parts(it, out)
    return out

def parts(it, out):  # what a data set is made of, and what its functions read of the script's
    out["held"] = out.get("held") or opened(it)
    yield from it[:8] if isinstance(it, (list, tuple)) else ()
    for f in (it, *(f for c in type(it).__mro__ for f in vars(c).values())):
        code = getattr(f, "__code__", None)
        if any("worker_info" in n for n in getattr(code, "co_names", ())):
            out["divided"] = True  # it asks which worker it is in
        if code and P.mine(code.co_filename):
            yield from (v for v in map(f.__globals__.get, code.co_names) if not hasattr(v, "__name__"))
    if hasattr(it, "__dict__"):
        n = getattr(it, "num_shards", getattr(it, "n_shards", None)) or isinstance(vars(it).get("urls"), list) and len(it.urls)
        if isinstance(n, int) and n:
            out["files"] = n
        yield from list(vars(it).values())[:20]

def state(data):  # of a data set: workers that stay keep the one they were given
    return {k: v if isinstance(v, (int, float, str)) else id(v) for k, v in list(getattr(data, "__dict__", {}).items())[:50]}
