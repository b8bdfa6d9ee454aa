# Prints as the last line of its output, in JSON, what the environment of this
# interpreter can do. Arguments: "quick" or "full", then the modules to import; of a
# distribution, named with "==" behind it, those at the top, which may fail; and what
# ended Python before, as "!computing with jax=python was ended by ...", to leave it out.
import importlib
import importlib.util
import json
import sys


class Died(Exception):
    """What is tried has ended Python before."""


died = dict(a[1:].split("=", 1) for a in sys.argv[2:] if a.startswith("!"))


def begin(out, what):
    """Say what is tried now: a library may end Python, and nothing is said after that."""
    if what in died:
        raise Died(died[what])
    print("\nenvfix:" + json.dumps(dict(out, now=what)), flush=True)


def text(error):
    return (type(error).__name__ + ": " + str(error))[:600].replace("Died: ", "", 1)


def compute(torch, device, quick):
    """Compare a matrix product, and a convolution, on device with the CPU's."""
    torch.manual_seed(0)
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    wrong = {"a matrix product": ((a.to(device) @ b.to(device)).cpu() - a @ b).abs().max().item()}
    if not quick:
        x, w = torch.randn(2, 3, 32, 32), torch.randn(8, 3, 3, 3)
        conv = torch.nn.functional.conv2d
        wrong["a convolution"] = (conv(x.to(device), w.to(device)).cpu() - conv(x, w)).abs().max().item()
    # TF32 is good to about 1e-2 here; a wrong kernel is off by far more.
    bad = [k for k, v in wrong.items() if not v < 0.1]
    return " and ".join(bad) + " differs from the CPU's" if bad else ""


def devices(torch):
    if torch.cuda.is_available():
        for i in range(torch.cuda.device_count()):
            yield "cuda:%d" % i, torch.cuda.get_device_name(i)
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        for i in range(xpu.device_count()):
            yield "xpu:%d" % i, xpu.get_device_name(i)
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        yield "mps", "Apple GPU"


def bridge(torch, out):
    """Values go from torch to NumPy and back, where NumPy is there: a torch that was
    compiled against NumPy 1 imports beside NumPy 2, and fails here."""
    try:
        import numpy
    except ImportError:
        return
    out["imports"]["numpy"] = str(getattr(numpy, "__version__", ""))
    try:
        if torch.from_numpy(torch.ones(2).numpy()).sum().item() != 2:
            raise ValueError("other values came back")
    except Exception as e:
        out["errors"]["torch beside numpy " + out["imports"]["numpy"]] = text(e)


def describe(torch, out, quick):
    out["torch"] = str(torch.__version__)
    out["cuda"] = getattr(torch.version, "cuda", None) or ""
    for key, read in (
        ("cudnn", lambda: torch.backends.cudnn.version() or 0),
        ("arches", lambda: (torch._C._cuda_getArchFlags() or "").split()),
    ):
        try:
            out[key] = read()
        except Exception as e:
            out["errors"][key] = text(e)
    try:
        found = list(devices(torch))
    except Exception as e:
        out["errors"]["looking for GPUs"] = text(e)
        found = []
    for device, name in found:
        try:
            error = compute(torch, device, quick)
        except Exception as e:
            error = text(e)
        out["gpus"].append({"device": device, "name": name, "error": error})


def tensorflow(tf):
    gpus = tf.config.list_physical_devices("GPU")
    for i in range(max(1, len(gpus))):
        with tf.device("/GPU:%d" % i if gpus else "/CPU:0"):
            x = tf.ones((64, 64))
            if float(tf.reduce_sum(tf.linalg.matmul(x, x))) != 64 ** 3:
                raise ValueError("a matrix product differs from the CPU's")
    return len(gpus)


def jax(module):
    found = module.devices()
    for device in found:
        x = module.device_put(module.numpy.ones((64, 64)), device)
        if float((x @ x).sum()) != 64 ** 3:
            raise ValueError("a matrix product differs from the CPU's")
    return sum(d.platform != "cpu" for d in found)


def onnxruntime(module):
    return int("CUDAExecutionProvider" in module.get_available_providers())


def cupy(module):
    count = module.cuda.runtime.getDeviceCount()
    for i in range(count):
        with module.cuda.Device(i):
            x = module.ones((64, 64))
            if float((x @ x).sum()) != 64 ** 3:
                raise ValueError("a matrix product differs from the CPU's")
    return count


def frameworks(out):
    """What else computes here, and on how many GPUs."""
    for name, run in (("tensorflow", tensorflow), ("jax", jax), ("onnxruntime", onnxruntime), ("cupy", cupy)):
        module = sys.modules.get(name)
        if module is None or name not in out["imports"]:
            continue
        try:
            begin(out, "computing with " + name)
            out["frameworks"][name] = run(module)
        except Exception as e:
            out["errors"]["computing with " + name] = text(e)


def mapped():
    """The files of CUDA's and torch's libraries that are loaded (Linux)."""
    begins = ("libcu", "libnv", "libtorch", "libc10", "libnccl")
    try:
        with open("/proc/self/maps") as f:
            files = {line.rstrip("\n").split(None, 5)[-1] for line in f if ".so" in line}
    except OSError:
        return []
    return sorted(f for f in files if f.rpartition("/")[2].startswith(begins))[:400]


def present(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def brought(name):
    """The modules at the top of a distribution."""
    from importlib import metadata
    found = set()
    for f in metadata.distribution(name).files or []:
        if f.parts[1:] == ("__init__.py",) or len(f.parts) == 1 and f.suffix in (".py", ".so"):
            found.add(f.parts[0].partition(".")[0])
    return sorted(n for n in found if n.isidentifier())


def main():
    out = {"imports": {}, "errors": {}, "unproven": {}, "gpus": [], "frameworks": {}}
    names = [n for n in sys.argv[2:] if not n.endswith("==") and n[0] != "!"]
    asked = [m for n in sys.argv[2:] if n.endswith("==") for m in brought(n[:-2])]
    if "torch" in names:  # what a package brought may be of another CUDA, and raises when it is imported
        names += [n for n in ("torchvision", "torchaudio") if n not in names and present(n)]
    for name in names + asked:
        try:
            begin(out, name)
            out["imports"][name] = str(getattr(importlib.import_module(name), "__version__", ""))
        except BaseException as e:  # a library may end in SystemExit
            out["errors" if name in names else "unproven"][name if name in names else "import " + name] = text(e)
    frameworks(out)
    torch = sys.modules.get("torch")
    if torch is not None and "torch" not in out["errors"]:
        try:
            begin(out, "computing with torch")
            describe(torch, out, sys.argv[1] == "quick")
            bridge(torch, out)
        except Died as e:
            out["errors"]["computing with torch"] = text(e)
        out["path"] = str(getattr(torch, "__file__", "") or "")
        out["mapped"] = mapped()
    return out


print("\nenvfix:" + json.dumps(main()))
