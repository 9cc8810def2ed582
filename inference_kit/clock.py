"""The only module that reads time.

Everything else is handed a `Clock`, so that tests and the simulator run on virtual time.
All times are float seconds. Only differences between two readings have a meaning.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """A source of seconds that never goes back."""

    def now(self) -> float:
        """Seconds since an arbitrary start."""
        ...


class MonotonicClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()


def wall_time() -> float:
    """Seconds since 1970, UTC: the date, for people. It may jump; never measure with it."""
    return time.time()


class VirtualClock:
    """A clock that moves only when told to."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)
        self._listeners: list[Callable[[], None]] = []

    def on_move(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each move from now on: whoever waits for a time cannot sleep until it."""
        self._listeners.append(listener)

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Move forward by `seconds` (finite, not negative) and return the new time."""
        if not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(f"a clock moves forward only; got {seconds!r}")
        return self.advance_to(self._now + seconds)

    def advance_to(self, when: float) -> float:
        """Move forward to `when`; an earlier time is refused."""
        if not (math.isfinite(when) and when >= self._now):
            raise ValueError(f"cannot move from {self._now!r} to {when!r}")
        self._now = float(when)
        for listener in self._listeners:
            listener()
        return self._now
