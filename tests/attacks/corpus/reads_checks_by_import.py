"""The checks as modules.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import importlib
import sys

sys.path[:0] = ["@COURSE@", "@COURSE@/solutions/lab90_fake", "@REPOSITORY@"]


def attempts():
    for name in ("checks", "solutions.lab90_fake.checks", "tests.grader.fake_lab", "grader.judge"):
        yield lambda name=name: vars(importlib.import_module(name))


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
