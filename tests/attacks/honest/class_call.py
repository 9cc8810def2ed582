"""An object that can be called.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

class Square:
    def __call__(self, x):
        return x * x


square = Square()
