"""The engine's event log: the newest lines, in the order in which they happened.

Owns a bounded buffer and its listeners. It changes no request. Invariant: a line is never edited,
and the buffer never holds more than `capacity` lines; each request keeps its own full history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..lifecycle.request import LoggedEvent
from ..sampling import check_int


class EventLog:
    """Collects `LoggedEvent`s of all requests. `append` is the observer of each request."""

    def __init__(self, capacity: int = 100_000) -> None:
        check_int("capacity", capacity, 1)
        self._lines: deque[LoggedEvent] = deque(maxlen=capacity)
        self._listeners: list[Callable[[LoggedEvent], None]] = []

    def append(self, entry: LoggedEvent) -> None:
        """Store one line and hand it to every listener."""
        self._lines.append(entry)
        for listener in self._listeners:
            listener(entry)

    def subscribe(self, listener: Callable[[LoggedEvent], None]) -> None:
        """Call `listener` with every line from now on."""
        self._listeners.append(listener)

    def events(self, request_id: str | None = None) -> list[LoggedEvent]:
        """The stored lines, of one request or of all."""
        return [line for line in self._lines if request_id in (None, line.request_id)]
