"""Runs three of the jobs of frameworks.py plainly, under `envfix run` and under three profilers, and prints a table:
what each names, and what it costs. beside.py ENVFIX [TIMES [JOB...]]; `make run-beside`. Wall-clock time and processor time are
the least of TIMES runs; the processor time is that of all processes, the profiler's too. What a profiler says of imports is left out."""
import json
import os
import re
import resource
import runpy
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "frameworks.py")
JOBS = {"torchvision-decode": "decoding, in the loop", "torchvision-folder": "decoding, in a worker", "transformers-collate": "tokenizing in collate"}
QUIET = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
BIN = os.path.dirname(sys.executable)


def profiled(job):
    from torch.profiler import ProfilerActivity, profile
    sys.argv = [SCRIPT, job, "sick"]
    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as p:
        runpy.run_path(SCRIPT, run_name="__main__")
    top = max(p.key_averages(), key=lambda e: e.self_cpu_time_total)
    total = sum(e.self_cpu_time_total for e in p.key_averages())
    with open(os.environ["BESIDE_OUT"], "w") as f:
        f.write("%.0f %% %s" % (100 * top.self_cpu_time_total / total, top.key))


def by_envfix(out):
    with open(out) as f:
        r = json.load(f)
    spots = r["evidence"].get("loader_spots") or ["-"]
    return r["verdict"] + ": " + spots[0].replace(HERE + "/", "")


def by_pyspy(out):
    """The frame that most samples end in, and the job's own line that most of those lie below; without imports."""
    ends, below = {}, {}
    with open(out) as f:
        for text in f:
            stack, n = text.rsplit(" ", 1)
            frames = stack.split(";")
            if "importlib" in stack:
                continue
            ends[frames[-1]] = ends.get(frames[-1], 0) + int(n)
            own = [x for x in frames if "frameworks.py" in x and "<module>" not in x]
            key = frames[-1], own[-1] if own else "no line of the job's"
            below[key] = below.get(key, 0) + int(n)
    top = max(ends, key=ends.get)
    return "%.0f %% %s, below %s" % (100 * ends[top] / sum(ends.values()), top, max((k for k in below if k[0] == top), key=below.get)[1])


def by_scalene(out):
    with open(out) as f:
        files = json.load(f).get("files", {})
    lines = [(x["n_cpu_percent_python"] + x["n_cpu_percent_c"] + x["n_sys_percent"], os.path.basename(name), x["lineno"])
             for name, f in files.items() for x in f["lines"] if not x["line"].lstrip().startswith(("import ", "from "))]
    return "%.0f %% %s:%d" % max(lines) if lines else "nothing"


def by_torch(out):
    with open(out) as f:
        return f.read()


def tools(envfix, job, out):
    job = [SCRIPT, job, "sick"]
    yield "plain", [sys.executable, *job], None
    yield "envfix run", [envfix, "run", "--report", out, "--", sys.executable, *job], by_envfix
    yield "py-spy", [BIN + "/py-spy", "record", "--subprocesses", "--format", "raw", "--output", out, "--", sys.executable, *job], by_pyspy
    yield "scalene", [BIN + "/scalene", "run", "--cpu-only", "-o", out, SCRIPT, "---", *job[1:]], by_scalene
    yield "torch.profiler", [sys.executable, os.path.abspath(__file__), "--profiled", job[1]], by_torch


def run(argv, out):
    before, t = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    p = subprocess.run(argv, env=dict(os.environ, BESIDE_OUT=out, **QUIET), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.monotonic() - t, resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        raise SystemExit("%s: exit %d\n%s" % (" ".join(argv), p.returncode, p.stderr.decode()[-2000:]))
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def marked(job):
    with open(SCRIPT) as f:
        return next(("frameworks.py:%d" % n for n, text in enumerate(f, 1) if text.rstrip().endswith("# " + job)), "a library's")


def main(envfix, times=1, *jobs):
    print("| job (the planted line) | by | names | wall | processor |\n|---|---|---|---|---|", flush=True)
    for job in jobs or JOBS:
        plain = None
        with tempfile.TemporaryDirectory() as dir:
            for name, argv, names in tools(os.path.abspath(envfix), job, dir + "/out.json"):
                if os.path.exists(dir + "/out.json"):
                    os.remove(dir + "/out.json")
                wall, cpu = (min(x) for x in zip(*(run(argv, dir + "/out.json") for _ in range(times))))
                plain = plain or (wall, cpu)
                said = re.sub(r"\S*-packages/", "", names(dir + "/out.json")) if names else "-"
                print("| %s (%s) | %s | %s | %.1f s, %+.0f %% | %.1f s, %+.0f %% |" % (
                    JOBS[job], marked(job), name, said.replace("|", "/"), wall, 100 * (wall / plain[0] - 1), cpu, 100 * (cpu / plain[1] - 1)), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--profiled":
        profiled(sys.argv[2])
    else:
        main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
