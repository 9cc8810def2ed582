"""A result of two hundred megabytes.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    return "x" * (200 << 20)
