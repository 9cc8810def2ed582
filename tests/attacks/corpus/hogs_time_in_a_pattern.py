"""A regular expression that takes years.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import re


def square(x):
    return re.match("(a+)+$", "a" * 60 + "b") or 0
