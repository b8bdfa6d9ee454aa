"""envfix run puts this folder first on PYTHONPATH, so Python's `site` loads this file. It arms a hook that loads the
probe after torch's own import, then runs the sitecustomize it shadows. It imports nothing that is not frozen into
Python, never imports torch, and raises no error of its own. Python 2 gets its own sitecustomize and no probe."""
import sys
_here = __file__.rpartition("/")[0] or "."
sys.path[:] = [p for p in sys.path if p != _here]  # the job does not see it; its children get it from the environment

try:
    import _frozen_importlib as _B, _frozen_importlib_external as _X
except ImportError:
    _B = None

class _Finder:  # on sys.meta_path until torch has been imported
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch":
            return None
        try:  # who only asks for the spec, as transformers does, gets one that is never executed
            others = (f.find_spec(name, path, target) for f in sys.meta_path if f is not _Finder and hasattr(f, "find_spec"))
            spec = next((s for s in others if s is not None), None)
            loader, run = spec.loader, spec.loader.exec_module
            def exec_module(module):  # the loader keeps its type and its other methods
                del loader.exec_module
                run(module)  # torch's own errors pass through untouched
                if _Finder in sys.meta_path:
                    sys.meta_path.remove(_Finder)
                    try:
                        _load("_envfix_probe").install(module, _load)
                    except Exception:
                        pass
            loader.exec_module = exec_module
            return spec
        except Exception:
            return None

def _load(name):
    spec = _X.spec_from_file_location(name, _here + "/" + name + ".py")
    module = sys.modules[name] = _B.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def _own():  # the user's own: the same name, and the same errors as without us
    if _B is None:
        import imp
        return imp.load_module("sitecustomize", *imp.find_module("sitecustomize", sys.path))
    spec = _X.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = _B.module_from_spec(spec)
        spec.loader.exec_module(module)

def _dies(kind, error, trace, hook=sys.excepthook):  # the probe's own hook comes with torch: memory may run out before
    if _B and issubclass(kind, MemoryError):
        try:
            import json, os
            with open("%s/p%d.jsonl" % (os.environ["ENVFIX_PROBE_DIR"], os.getpid()), "ab", 0) as f:
                f.write(json.dumps({"crash": {"type": "MemoryError", "text": str(error)[:700]}}).encode() + b"\n")
        except Exception:
            pass
    hook(kind, error, trace)

if _B:
    sys.meta_path.insert(0, _Finder)
    sys.excepthook = _dies
_own()
