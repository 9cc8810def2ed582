"""The counter as a dataclass.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q2
"""

from dataclasses import dataclass
from typing import Any


@dataclass
class Counter:
    listener: Any = None
    total: int = 0

    def add(self, n):
        self.total = self.total + n
        (self.listener or (lambda number: None))(n)
