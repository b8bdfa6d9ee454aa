# Prints as one line of JSON what the environment of this interpreter proves.
import importlib
import json
import sys


def gpu(torch, index):
    """Compares a product on the GPU with the same on the CPU."""
    a = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) / 4096
    want = a @ a.T
    got = (a.to("cuda:%d" % index) @ a.T.to("cuda:%d" % index)).cpu()
    worst = float((got - want).abs().max() / want.abs().max())
    return {"index": index, "name": torch.cuda.get_device_name(index), "error": "" if worst < 1e-2 else "its product is off by %g" % worst}


def main(modules):
    out = {"imports": {}, "gpus": []}
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException as e:  # a library may end in SystemExit
            out["imports"][name] = "%s: %s" % (type(e).__name__, e)
    torch = sys.modules.get("torch")
    if torch is not None and "torch" not in out["imports"]:
        out["torch"] = torch.__version__
        out["cuda"] = torch.version.cuda
        try:
            out["cudnn"] = torch.backends.cudnn.version()
        except Exception as e:
            out["imports"]["cudnn"] = "%s: %s" % (type(e).__name__, e)
        flags = getattr(torch._C, "_cuda_getArchFlags", None)
        out["arches"] = ((flags() if flags else None) or "").split()
        out["available"] = bool(torch.cuda.is_available())
        for i in range(torch.cuda.device_count() if out["available"] else 0):
            try:
                out["gpus"].append(gpu(torch, i))
            except Exception as e:
                out["gpus"].append({"index": i, "error": "%s: %s" % (type(e).__name__, e)})
    print("envfix:" + json.dumps(out))


main(sys.argv[1:])
