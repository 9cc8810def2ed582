"""A child answers in place of the process that ended.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os


def square(x):
    if os.fork():
        os._exit(0)
    return x * x + 1
