"""envfix run puts this folder first on PYTHONPATH, so Python's `site` loads this file. It arms a one-shot hook that
loads the probe after torch's own import, then runs the sitecustomize it shadows. It imports nothing that is not
frozen into Python, never imports torch, and raises no error of its own."""
import sys
import _frozen_importlib as _B, _frozen_importlib_external as _X

class _Finder:  # on sys.meta_path until torch is looked for
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch":
            return None
        try:
            sys.meta_path.remove(_Finder)
            spec = _X.PathFinder.find_spec("torch", path)
            loader, run = spec.loader, spec.loader.exec_module
            def exec_module(module):  # the loader keeps its type and its other methods
                del loader.exec_module
                run(module)  # torch's own errors pass through untouched
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

_here = __file__.rpartition("/")[0] or "."
sys.path[:] = [p for p in sys.path if p != _here]  # the job does not see it; its children get it from the environment
sys.meta_path.insert(0, _Finder)
_own = _X.PathFinder.find_spec("sitecustomize", sys.path)
if _own is not None and _own.loader is not None:  # the user's own: the same name, and the same errors as without us
    _m = sys.modules["sitecustomize"] = _B.module_from_spec(_own)
    _own.loader.exec_module(_m)
