"""Takes its time.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def square(x):
    for _ in range(50_000):
        pass
    return x * x
