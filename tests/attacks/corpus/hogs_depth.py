"""A result that is nested a hundred thousand times.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    result = []
    for _ in range(100_000):
        result = [result]
    return result
