"""Recursion without an end, with the limit taken away.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import sys

sys.setrecursionlimit(10**9)


def square(x):
    return square(x)
