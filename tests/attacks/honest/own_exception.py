"""An exception of its own that is a ValueError.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q3
"""

class NoInverse(ValueError):
    pass


def inverse(x):
    if not x:
        raise NoInverse('zero has none') from None
    return 1 / x
