"""Prints while it works.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import sys


def square(x):
    print('x', x)
    print('error?', file=sys.stderr)
    return x * x
