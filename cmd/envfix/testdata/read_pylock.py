"""Reads pylock files with the reference implementation of PEP 751 (packaging)."""
import sys
import tomllib

from packaging.pylock import Pylock, is_valid_pylock_path
from pathlib import Path

for name in sys.argv[1:]:
    path = Path(name)
    assert is_valid_pylock_path(path), f"{name} is not a name of PEP 751"
    lock = Pylock.from_dict(tomllib.loads(path.read_text()))
    lock.validate()
    assert all(w.hashes["sha256"] and w.size for p in lock.packages for w in p.wheels or []), name
    print(f"{path.name}: {len(lock.packages)} packages")
