"""An import from the future.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

from __future__ import annotations


def square(x: int | Unknown) -> Unknown:
    return x * x
