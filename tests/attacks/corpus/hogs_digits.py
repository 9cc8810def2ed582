"""A number of ten million digits.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    return 10**10_000_000
