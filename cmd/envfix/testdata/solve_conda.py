"""Solves the conda part of an environment.yml with rattler against a channel that
this script makes: usage solve_conda.py ENVIRONMENT.yml CHANNEL_DIR."""
import asyncio
import json
import os
import re
import sys
from pathlib import Path

from rattler import Channel, Gateway, Platform, VirtualPackage, solve

text, root = Path(sys.argv[1]).read_text(), Path(sys.argv[2])


def record(name, version, build="0", depends=()):
    return f"{name}-{version}-{build}.conda", {
        "name": name, "version": version, "build": build, "build_number": 0, "depends": list(depends),
        "subdir": "linux-64", "sha256": "0" * 64, "md5": "0" * 32, "size": 1}


packages = dict([record("python", "3.11.9"), record("python", "3.12.7"), record("python", "3.13.1"),
                 record("pip", "22.0", depends=["python"]), record("pip", "26.3", depends=["python"])])
for subdir, content in (("linux-64", packages), ("noarch", {})):
    (root / subdir).mkdir(parents=True)
    (root / subdir / "repodata.json").write_text(json.dumps(
        {"info": {"subdir": subdir}, "packages": {}, "packages.conda": content, "repodata_version": 1}))

specs = [m[1] for m in re.finditer(r"^  - ([a-z][^:\n]*)$", text.split("dependencies:")[1], re.M)]


async def main():
    found = await solve([Channel(root.as_uri())], specs, gateway=Gateway(), platforms=[Platform("linux-64"), Platform("noarch")],
                        virtual_packages=VirtualPackage.detect())
    print(" ".join(sorted(f"{r.name.normalized}={r.version}" for r in found)))


asyncio.run(main())
# rattler's own threads take Python's lock while the interpreter ends, and now and then
# die of it (PyGILState_Release): the answer is out, nothing is left to end.
sys.stdout.flush()
os._exit(0)
