"""One error raised from another.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q3
"""

def inverse(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        raise ValueError('zero') from error
