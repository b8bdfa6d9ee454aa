# Proves what an environment's torch can do and prints it as one line of JSON,
# the last line of the output. argv[1] is JSON: {"imports": [...], "quick": bool}.
import importlib
import json
import sys


def text(error):
    return (type(error).__name__ + ": " + str(error))[:600]


def compute(torch, device, quick):
    """Compare a matrix product, and a convolution, on device with the CPU's."""
    torch.manual_seed(0)
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    wrong = {"matmul": ((a.to(device) @ b.to(device)).cpu() - a @ b).abs().max().item()}
    if not quick:
        x, w = torch.randn(2, 3, 32, 32), torch.randn(8, 3, 3, 3)
        conv = torch.nn.functional.conv2d
        wrong["conv2d"] = (conv(x.to(device), w.to(device)).cpu() - conv(x, w)).abs().max().item()
    # TF32 is good to about 1e-2 here; a wrong kernel is off by far more.
    bad = [k for k, v in wrong.items() if not v < 0.1]
    return {"ok": not bad, "error": ", ".join(k + " differs from the CPU's result" for k in bad)}


def devices(torch):
    if torch.cuda.is_available():
        for i in range(torch.cuda.device_count()):
            p = torch.cuda.get_device_properties(i)
            yield "cuda:%d" % i, p.name, "%d.%d" % (p.major, p.minor)
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        for i in range(xpu.device_count()):
            yield "xpu:%d" % i, xpu.get_device_name(i), ""
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        yield "mps", "Apple GPU", ""


def main():
    want = json.loads(sys.argv[1])
    out = {"imports": {}, "errors": {}, "gpus": []}
    for name in want["imports"]:
        try:
            out["imports"][name] = str(getattr(importlib.import_module(name), "__version__", ""))
        except BaseException as e:  # an import may also call sys.exit
            out["errors"][name] = text(e)
    torch = sys.modules.get("torch")
    if torch is None or "torch" in out["errors"]:
        return out
    out["torch"] = str(torch.__version__)
    out["cuda"] = getattr(torch.version, "cuda", None) or ""
    out["hip"] = getattr(torch.version, "hip", None) or ""
    for key, read in (
        ("cudnn", lambda: torch.backends.cudnn.version() or 0),
        ("arches", lambda: torch._C._cuda_getArchFlags() or ""),
        ("available", lambda: torch.cuda.is_available()),
    ):
        try:
            out[key] = read()
        except Exception as e:
            out["errors"][key] = text(e)
    try:
        found = list(devices(torch))
    except Exception as e:
        out["errors"]["devices"] = text(e)
        found = []
    for device, name, capability in found:
        gpu = {"device": device, "name": name, "capability": capability}
        try:
            gpu.update(compute(torch, device, want["quick"]))
        except Exception as e:
            gpu.update(ok=False, error=text(e))
        out["gpus"].append(gpu)
    return out


print("\n" + json.dumps(main()))
