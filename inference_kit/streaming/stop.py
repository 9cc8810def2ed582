"""Stop strings found by one automaton over all of them (A6, conventions 2 and 3).

Owns the position in the automaton, not the text. Invariant: after each push, `held` is the length of
the longest suffix of the text that is a proper prefix of a stop string. The work per character does
not depend on the number of stops (Aho and Corasick, 1975).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from ..errors import InvalidField

ROOT = 0


class Matcher(Protocol):
    """What the engine asks of a stop matcher; lab 03's answer plugs in here."""

    held: int
    """Characters at the end of the text that may still become a stop string."""

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`. Returns (stop, end) at the first match, or None.

        `end` counts the characters of `text` up to and with the last one of the stop string.
        With `armed=False` matches are passed over (before min_tokens, convention 5).
        """
        ...


def checked_stops(stops: Iterable[str]) -> tuple[str, ...]:
    """`stops` without repetitions. Raises `InvalidField` for an empty one."""
    unique = tuple(dict.fromkeys(stops))
    if any(not isinstance(stop, str) or not stop for stop in unique):
        raise InvalidField("stop", list(unique), "non-empty strings")
    return unique


def find_stop(text: str, stops: Iterable[str], after: int = 0) -> tuple[str, int] | None:
    """The stop that ends first behind position `after` of `text`, and where it ends (convention 2).

    Of several that end at the same place the longest counts. None when there is none.
    """
    for end in range(after + 1, len(text) + 1):
        found = [stop for stop in stops if text.endswith(stop, 0, end)]
        if found:
            return max(found, key=len), end
    return None


def held_length(text: str, stops: Iterable[str]) -> int:
    """Length of the longest end of `text` that is a proper prefix of a stop (convention 3)."""
    for begin in range(len(text)):
        end = text[begin:]
        if any(stop != end and stop.startswith(end) for stop in stops):
            return len(end)
    return 0


Find = Callable[[str, Iterable[str], int], tuple[str, int] | None]
"""`find_stop`, or one that does the same."""


def answer_length(
    pieces: Iterable[str], stops: Iterable[str], min_tokens: int = 0, find: Find = find_stop
) -> int:
    """How many tokens belong to an answer: all up to and with the one that completes a stop (convention 4).

    Args:
        pieces: the text of each token, in order.
        stops: strings that end the answer.
        min_tokens: a stop that is completed by one of the first `min_tokens` tokens does not count.
        find: finds a stop behind a position.
    """
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(text, stops, before) is not None:
            return count
    return count


class PlainTextStream:
    """Text in, text out, a stop cut off: the whole rule in a few lines (conventions 2 and 3).

    `StreamingText` does the same for bytes, in a time that does not depend on the number of stops.
    """

    def __init__(
        self,
        stops: Iterable[str],
        include_stop: bool = False,
        find: Find = find_stop,
        hold: Callable[[str, Iterable[str]], int] = held_length,
    ) -> None:
        self.stops = checked_stops(stops)
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason: str | None = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


class PlainStopMatcher:
    """Compares the end of the text with every stop, after every character.

    Its work grows with the number and the length of the stops; `StopMatcher` is the fast one.
    Raises `InvalidField` for an empty stop string.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self.stops = checked_stops(stops)
        self.held = 0
        self._longest = max(map(len, self.stops), default=0)
        self._tail = ""

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`; see `Matcher.push`."""
        before = len(self._tail)
        text = self._tail + text
        match = find_stop(text, self.stops, before) if armed else None
        if match is not None:
            self._tail, self.held = "", 0
            return match[0], match[1] - before
        self.held = held_length(text, self.stops)
        # Not text[-longest:], which is everything when there are no stops.
        self._tail = text[max(0, len(text) - self._longest) :]
        return None


def beginnings(stops: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds every place where one of `stops` could begin, and few others.

    It looks at two characters: one that begins a stop, then one that is second in a stop, or the end of
    the text. So its work does not depend on the number of stops either.
    """
    long = [stop for stop in stops if len(stop) > 1]
    choices = [_one_of(stop for stop in stops if len(stop) == 1)]
    if long:
        choices.append(f"{_one_of(stop[0] for stop in long)}(?:{_one_of(stop[1] for stop in long)}|\\Z)")
    return re.compile("|".join(filter(None, choices)) or "(?!)")


def _one_of(chars: Iterable[str]) -> str:
    inside = "".join(map(re.escape, sorted(set(chars))))
    return f"[{inside}]" if inside else ""


class StopMatcher:
    """Matches any of `stops`. Earliest end wins, ties go to the longest.

    A node of the automaton stands for the longest end of the text that begins a stop; the root stands
    for none. Most tokens lead from the root back to it: a pattern tells so at once, and only the
    others are walked through, character by character.

    Raises `InvalidField` for an empty stop string.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self.stops = checked_stops(stops)
        self.held = 0
        self._node = ROOT
        self._find_beginning = beginnings(self.stops).search
        self._next: list[dict[str, int]] = [{}]
        self._fail: list[int] = [ROOT]
        self._depth: list[int] = [0]
        self._match: list[str | None] = [None]
        for stop in self.stops:
            self._insert(stop)
        self._held_at = self._link()

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`; see `Matcher.push`."""
        if self._node != ROOT:
            return self._walk(text, 0, armed)
        found = self._find_beginning(text)
        return None if found is None else self._walk(text, found.start(), armed)

    def _walk(self, text: str, begin: int, armed: bool) -> tuple[str, int] | None:
        """Follow `text` from `begin` on, one or two look-ups for each character."""
        node, following, matches = self._node, self._next, self._match
        for index in range(begin, len(text)):
            char = text[index]
            while node and char not in following[node]:
                node = self._fail[node]
            node = following[node].get(char, ROOT)
            stop = matches[node]
            if armed and stop is not None:
                self._node, self.held = ROOT, 0
                return stop, index + 1
        self._node, self.held = node, self._held_at[node]
        return None

    def _insert(self, stop: str) -> None:
        node = ROOT
        for char in stop:
            if char not in self._next[node]:
                self._next[node][char] = len(self._next)
                self._next.append({})
                self._fail.append(ROOT)
                self._depth.append(self._depth[node] + 1)
                self._match.append(None)
            node = self._next[node][char]
        self._match[node] = stop

    def _link(self) -> list[int]:
        """Set failure links breadth first. Returns for each node how much text it holds back."""
        held = [0] * len(self._next)
        queue = deque([ROOT])
        while queue:
            node = queue.popleft()
            fail = self._fail[node]
            if node:
                held[node] = self._depth[node] if self._next[node] else held[fail]
                if self._match[node] is None:
                    self._match[node] = self._match[fail]
            for char, child in self._next[node].items():
                self._fail[child] = self._step(fail, char) if node else ROOT
                queue.append(child)
        return held

    def _step(self, node: int, char: str) -> int:
        while node and char not in self._next[node]:
            node = self._fail[node]
        return self._next[node].get(char, ROOT)
