"""Exact numbers, turned into a float at the end.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q3
"""

from fractions import Fraction


def inverse(x):
    if x == 0:
        raise ValueError
    return float(1 / Fraction(x))
