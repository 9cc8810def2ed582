"""Print until nobody can listen any more.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    print("x" * (1 << 20) * 300)
    return 0
