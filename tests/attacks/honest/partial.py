"""A partial of an operator.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import functools
import operator


def apply(function, x):
    return function(x, x)


square = functools.partial(apply, operator.mul)
