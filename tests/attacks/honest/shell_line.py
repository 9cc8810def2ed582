"""A shell line above the answer.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

!pip list
%matplotlib inline


def square(x):
    return x * x
