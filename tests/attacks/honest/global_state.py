"""Counts its calls in a global.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

calls = 0


def square(x):
    global calls
    calls += 1
    return x * x
