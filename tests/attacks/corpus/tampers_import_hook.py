"""An import hook offers a false course kit.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import sys
import types


class Finder:
    def find_spec(self, name, path=None, target=None):
        sys.modules[name] = types.ModuleType(name)
        return None


sys.meta_path.insert(0, Finder())
sys.modules["inference_kit"] = types.ModuleType("inference_kit")


def square(x):
    return 0
