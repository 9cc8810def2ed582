"""The engine's event log: the newest lines, in the order in which they happened.

Owns a bounded buffer and its listeners. It changes no request. Invariants: a line is never edited,
and the buffer never holds more than `capacity` lines; each request keeps its own full history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..lifecycle.request import LoggedEvent, token_line
from ..sampling import check_int


@dataclass(frozen=True, eq=False)
class TokenLines:
    """The `token` lines of one step, all at one time and in one state, not yet made."""

    request_ids: Sequence[str]
    token_ids: Sequence[int]
    timestamp: float
    state: str

    def __len__(self) -> int:
        return len(self.request_ids)

    def __iter__(self) -> Iterator[LoggedEvent]:
        for request_id, token_id in zip(self.request_ids, self.token_ids, strict=True):
            yield token_line(request_id, token_id, self.timestamp, self.state)


Fault = tuple[str, Exception]
"""A request id, and what a listener raised at a line of that request."""
Listener = Callable[[LoggedEvent], None]
TokenListener = Callable[[TokenLines], list[Fault]]


class EventLog:
    """Collects `LoggedEvent`s of all requests. `append` is the observer of each request."""

    def __init__(self, capacity: int = 100_000) -> None:
        check_int("capacity", capacity, 1)
        self._capacity = capacity
        self._parts: deque[Sequence[LoggedEvent] | TokenLines] = deque()
        self._count = 0
        self._listeners: list[tuple[Listener, TokenListener]] = []

    def append(self, entry: LoggedEvent) -> None:
        """Store one line and hand it to every listener."""
        self._store((entry,))
        for listener, _ in self._listeners:
            listener(entry)

    def append_tokens(self, lines: TokenLines) -> list[Fault]:
        """Store the tokens of one step. The lines are made for listeners and readers only.

        Returns the faults of the listeners, each with the request whose line it was.
        """
        self._store(lines)
        return [fault for _, listener in self._listeners for fault in listener(lines)]

    def subscribe(self, listener: Listener, tokens: Callable[[TokenLines], None] | None = None) -> None:
        """Call `listener` with every line from now on.

        `tokens`: called instead with all token lines of a step at once.
        """
        self._listeners.append((listener, _one_by_one(listener) if tokens is None else _at_once(tokens)))

    def events(self, request_id: str | None = None) -> list[LoggedEvent]:
        """The stored lines, of one request or of all."""
        parts = list(self._parts)
        too_many = max(0, sum(map(len, parts)) - self._capacity)
        lines = [line for part in parts for line in part][too_many:]
        return [line for line in lines if request_id in (None, line.request_id)]

    def _store(self, part: Sequence[LoggedEvent] | TokenLines) -> None:
        self._parts.append(part)
        self._count += len(part)
        # The oldest part goes when the rest fills the buffer; `events` cuts what is left over.
        while self._count - len(self._parts[0]) >= self._capacity:
            self._count -= len(self._parts.popleft())


def _one_by_one(listener: Listener) -> TokenListener:
    def hear(lines: TokenLines) -> list[Fault]:
        faults: list[Fault] = []
        for entry in lines:
            try:
                listener(entry)
            except Exception as error:
                faults.append((entry.request_id, error))
        return faults

    return hear


def _at_once(listener: Callable[[TokenLines], None]) -> TokenListener:
    def hear(lines: TokenLines) -> list[Fault]:
        try:
            listener(lines)
        except Exception as error:
            return [(request_id, error) for request_id in lines.request_ids]
        return []

    return hear
