"""The submission of somebody else.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import glob


def attempts():
    for path in glob.glob("@COURSE@/grader/submitted/*/*/*.ipynb"):
        yield lambda path=path: open(path).read()


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
