"""The total as a property, and slots.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q2
"""

class Counter:
    __slots__ = ('added', 'listener')

    def __init__(self, listener=None):
        self.added, self.listener = [], listener

    def add(self, n):
        self.added.append(n)
        if self.listener is not None:
            self.listener(n)

    @property
    def total(self):
        return sum(self.added)
