"""Runs an event loop of its own.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import asyncio


async def later(x):
    return x * x


def square(x):
    return asyncio.run(later(x))
