"""Writes to the output without lines.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import sys


def square(x):
    sys.stdout.write('.' * 1000)
    sys.stdout.flush()
    return x * x
