"""A try-out below the answer stops with an error.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def square(x):
    return x * x


print(square('a'))
