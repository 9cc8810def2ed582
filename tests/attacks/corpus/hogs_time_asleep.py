"""The function sleeps.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import time


def square(x):
    time.sleep(10**6)
