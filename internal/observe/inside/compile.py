"""Compiles sitecustomize.py for the Python that runs this, into compiled/: every Python of a job loads that file, and
compiling it costs 2 to 3 ms, loading it 0.3. The code holds a hash of its source, which Python checks, so an old or a
foreign one is left alone and costs what it always did. Run by `go generate ./internal/observe` with each Python found."""
import hashlib, os, py_compile, sys

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.join(here, "sitecustomize.py")
target = os.path.join(here, "compiled", sys.implementation.cache_tag)
py_compile.compile(source, target, "sitecustomize.py", True, 0, py_compile.PycInvalidationMode.CHECKED_HASH)
with open(source, "rb") as f, open(os.path.join(here, "compiled", "source"), "w") as out:
    out.write(hashlib.sha256(f.read()).hexdigest() + "\n")
