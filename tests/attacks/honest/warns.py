"""A warning on the error output.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import warnings


def square(x):
    warnings.warn('careful', stacklevel=2)
    return x * x
