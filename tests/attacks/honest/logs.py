"""Log lines of every level.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import logging

logging.basicConfig(level=logging.DEBUG)


def square(x):
    logging.error('x is %s', x)
    return x * x
