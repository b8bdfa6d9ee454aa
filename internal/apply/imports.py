# Imports each module that is an argument, and says of each, on a line of its own in JSON,
# "" or why it cannot be imported; "absent" where nothing brings it.
import importlib
import json
import sys

for name in sys.argv[1:]:
    why = ""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as e:
        why = "absent" if e.name and (name + ".").startswith(e.name + ".") else str(e)
    except KeyboardInterrupt:  # it is to end, and that is no word on the module
        raise
    except BaseException as e:  # a library may end in SystemExit
        why = (type(e).__name__ + ": " + str(e)).strip().splitlines()[0][:300]
    if why not in ("", "absent") and name != sys.argv[1]:
        break  # what was imported before it may be why: it is tried again, the first
    print("\nenvfix:" + json.dumps([name, why]), flush=True)
