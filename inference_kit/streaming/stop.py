"""Stop strings found by one automaton over all of them (A6, conventions 2 and 3).

Owns the position in the automaton, not the text. Invariant: after each character, `held` is the
length of the longest suffix of the text that is a proper prefix of a stop string. The work per
character does not depend on the number of stops (Aho and Corasick, 1975).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from ..errors import InvalidField


class Matcher(Protocol):
    """What the engine asks of a stop matcher; lab 03's answer plugs in here."""

    held: int

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`; see `StopMatcher.push`."""
        ...


class StopMatcher:
    """Matches any of `stops`. Earliest end wins, ties go to the longest.

    Raises `InvalidField` for an empty stop string.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self.stops = tuple(dict.fromkeys(stops))
        if any(not isinstance(stop, str) or not stop for stop in self.stops):
            raise InvalidField("stop", list(self.stops), "non-empty strings")
        self.held = 0
        self._node = 0
        self._next: list[dict[str, int]] = [{}]
        self._fail: list[int] = [0]
        self._depth: list[int] = [0]
        self._match: list[str | None] = [None]
        for stop in self.stops:
            self._insert(stop)
        self._held_at = self._link()

    def _insert(self, stop: str) -> None:
        node = 0
        for char in stop:
            if char not in self._next[node]:
                self._next[node][char] = len(self._next)
                self._next.append({})
                self._fail.append(0)
                self._depth.append(self._depth[node] + 1)
                self._match.append(None)
            node = self._next[node][char]
        self._match[node] = stop

    def _link(self) -> list[int]:
        """Set failure links breadth first. Returns for each node how much text it holds back."""
        held = [0] * len(self._next)
        queue = deque([0])
        while queue:
            node = queue.popleft()
            fail = self._fail[node]
            if node:
                held[node] = self._depth[node] if self._next[node] else held[fail]
                if self._match[node] is None:
                    self._match[node] = self._match[fail]
            for char, child in self._next[node].items():
                self._fail[child] = self._step(fail, char) if node else 0
                queue.append(child)
        return held

    def _step(self, node: int, char: str) -> int:
        while node and char not in self._next[node]:
            node = self._fail[node]
        return self._next[node].get(char, 0)

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`. Returns (stop, end) at the first match, or None.

        `end` counts the characters of `text` up to and with the last one of the stop string.
        With `armed=False` matches are passed over (before min_tokens, convention 5).
        """
        if not self.stops:
            return None
        node = self._node
        for index, char in enumerate(text):
            node = self._step(node, char)
            stop = self._match[node]
            if armed and stop is not None:
                self._node, self.held = 0, 0
                return stop, index + 1
        self._node, self.held = node, self._held_at[node]
        return None
