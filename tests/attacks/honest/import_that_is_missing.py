"""Imports a package that is not there, for a plot.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

try:
    import seaborn
except ImportError:
    seaborn = None


def square(x):
    return x * x
