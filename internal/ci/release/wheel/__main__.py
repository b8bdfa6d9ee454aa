"""Starts the program `envfix` that this wheel put beside Python's other commands."""

import os
import subprocess
import sys
import sysconfig

FOREIGN = """\
envfix-gpu: %s is the command of another package.
The package `envfix` of the index is not this one, and both install a command
`envfix`. Remove it, and install this one again:
  python -m pip uninstall envfix
  python -m pip install --force-reinstall envfix-gpu
"""


def candidates():
    name = "envfix" + (sysconfig.get_config_var("EXE") or "")
    yield os.path.join(sysconfig.get_path("scripts"), name)
    user = "nt_user" if os.name == "nt" else "posix_user"
    if sys.platform == "darwin" and sysconfig.get_config_var("PYTHONFRAMEWORK"):
        user = "osx_framework_user"
    yield os.path.join(sysconfig.get_path("scripts", user), name)
    # pip install --prefix and --target put commands beside the packages.
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(here, "bin", name)
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(here))), "bin", name)
    yield os.path.join(os.path.dirname(sys.executable), name)


def is_script(path):
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def main():
    found = [path for path in candidates() if os.path.isfile(path)]
    programs = [path for path in found if not is_script(path)]
    if not programs:
        sys.exit(FOREIGN % found[0] if found else "envfix-gpu: the program `envfix` is gone; install envfix-gpu again")
    argv = [programs[0]] + sys.argv[1:]
    if os.name == "nt":
        sys.exit(subprocess.call(argv))
    os.execv(argv[0], argv)


if __name__ == "__main__":
    main()
