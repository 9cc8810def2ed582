"""The process crashes.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import ctypes


def square(x):
    ctypes.string_at(0)
