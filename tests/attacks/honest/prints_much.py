"""Prints 400,000 lines.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

for line in range(400_000):
    print(line)


def square(x):
    return x * x
