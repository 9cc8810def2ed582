"""The submission of somebody else is overwritten.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import glob


def square(x):
    for path in glob.glob("@COURSE@/grader/*/*/*/*.ipynb"):
        open(path, "w").write("{}")
    return 0
