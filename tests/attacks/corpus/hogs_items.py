"""A result of twenty million items.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    return [0] * 20_000_000
