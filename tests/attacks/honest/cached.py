"""Remembers results.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import functools


@functools.cache
def square(x):
    return x * x
