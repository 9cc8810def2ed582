"""An exception whose text, name and bases cannot be asked for.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

class Odd(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


Odd.__name__ = "passed" * 1000


def square(x):
    raise Odd
