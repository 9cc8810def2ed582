"""Types of every kind.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

from typing import Protocol, TypeVar

T = TypeVar('T', int, float)


class Number(Protocol):
    def __mul__(self, other): ...


def square(x: T) -> T:
    return x * x
