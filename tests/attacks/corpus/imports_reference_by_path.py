"""The kit's own code, loaded by its path and by other finders.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import importlib.util
import pkgutil
import sys

sys.path.insert(0, "@REPOSITORY@")
sys.meta_path[:] = [finder for finder in sys.meta_path if "Blocked" not in type(finder).__name__]


def load(path):
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "STOLEN " + str(vars(module))


def attempts():
    yield lambda: load("@REPOSITORY@/inference_kit/lifecycle/states.py")
    yield lambda: load("@REPOSITORY@/inference_kit/clock.py")
    yield lambda: pkgutil.get_data("inference_kit", "__init__.py") and "STOLEN"


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
