"""A cell with await at its top level.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import asyncio

ready = await asyncio.sleep(0, 7)


def square(x):
    return x * x
