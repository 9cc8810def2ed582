"""A number type of its own.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

class Metres(int):
    def __repr__(self):
        return f'{int(self)} m'


def square(x):
    return Metres(x * x)
