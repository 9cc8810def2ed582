"""When a live request must be looked at because of time: a heap of due times (A11).

Owns keys and times, no requests. Invariant: the earliest time set for a key and not yet reached is in the
heap, so a boundary with nothing due costs one comparison, however many requests wait.
"""

from __future__ import annotations

import heapq
import math


class Timers:
    """At most one armed time for each key; a later one is ignored until the earlier has come."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._armed: dict[str, float] = {}

    def arm(self, key: str, due: float) -> None:
        """Report `key` at `due` (engine time, seconds) or earlier."""
        if due < self._armed.get(key, math.inf):
            self._armed[key] = due
            heapq.heappush(self._heap, (due, key))

    def drop(self, key: str) -> None:
        """Forget a key. Its entries are cleared away once they are the larger part."""
        if self._armed.pop(key, None) is not None and len(self._heap) > 2 * len(self._armed) + 64:
            self._heap = [(due, key) for key, due in self._armed.items()]
            heapq.heapify(self._heap)

    def is_due(self, now: float) -> bool:
        """True when `pop_due` may find a key. O(1)."""
        return bool(self._heap) and self._heap[0][0] <= now

    def pop_due(self, now: float) -> list[str]:
        """The keys whose time has come, earliest first; they are not armed any more."""
        due: list[str] = []
        while self.is_due(now):
            at, key = heapq.heappop(self._heap)
            if self._armed.get(key) == at:
                del self._armed[key]
                due.append(key)
        return due
