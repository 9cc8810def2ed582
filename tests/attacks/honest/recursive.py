"""Recursion that ends.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def add(x, times):
    return 0 if times == 0 else x + add(x, times - 1)


def square(x):
    return add(abs(x), abs(x)) if abs(x) < 100 else x * x
