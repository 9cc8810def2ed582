"""A coroutine that nobody awaits.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

async def later():
    return 1


later()


def square(x):
    return x * x
