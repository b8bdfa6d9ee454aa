# Imports each module that is an argument, and says of each, on a line of its own in JSON,
# "" or why it cannot be imported; "absent" where nothing brings it. Behind a module stand,
# after blanks, the whole names of what is imported of it: which of them fail has lines before.
import importlib
import json
import sys


def fails(name, reach=importlib.import_module):
    try:
        reach(name)
    except ModuleNotFoundError as e:
        brought = not e.name or not (name + ".").startswith(e.name + ".")
        return str(e) if brought or reach is part else "absent"
    except KeyboardInterrupt:  # it is to end, and that is no word on the module
        raise
    except BaseException as e:  # a library may end in SystemExit
        return (type(e).__name__ + ": " + str(e)).strip().splitlines()[0][:300]
    return ""


def part(name):
    above, _, last = name.rpartition(".")  # as the statement does: torch.nn.parallel.replicate is a function as well
    if not hasattr(importlib.import_module(above), last):
        importlib.import_module(name)


for argument in sys.argv[1:]:
    name, *parts = argument.split()
    why = fails(name)
    if why not in ("", "absent") and argument != sys.argv[1]:
        break  # what was imported before it may be why: it is tried again, the first
    for of in [] if why else parts:
        lacks = fails(of, part)
        if lacks:
            print("\nenvfix:" + json.dumps([name, lacks, of]), flush=True)
    print("\nenvfix:" + json.dumps([name, why]), flush=True)
