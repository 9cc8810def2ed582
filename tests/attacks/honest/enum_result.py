"""An enum member whose value is the number.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import enum


def square(x):
    return enum.IntEnum('N', {'RESULT': x * x}).RESULT
