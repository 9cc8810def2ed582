"""The bounded way from the engine to one caller (A13, C2–C4, convention 8).

Owns what was committed and not yet taken. It never blocks and never drops: entries merge, and
`paused` tells the scheduler to stop planning the request. Invariant: unsent tokens stay within
the high mark plus one step.

Of the four token counts of C4 the channel gives two: `unsent` and `sent`. Proposed tokens are counted by
the engine where the runner hands in what it sampled or drafted; committed ones are
`Request.num_output_tokens`. After each step committed = unsent + sent.

`PlainChannel` is the one to read, for one thread; `TokenChannel` is the engine's: behind a lock, with a fixed
amount of work for each `put`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..sampling import check_int


@dataclass(frozen=True)
class Chunk:
    """What a caller receives. Text can lag behind ids while it is held back."""

    text: str = ""
    token_ids: tuple[int, ...] = ()
    finish_reason: str | None = None
    """Set on the last chunk only."""
    index: int = 0
    """Which sample it belongs to, for n > 1."""
    logprobs: tuple[Any, ...] = ()
    """One `TokenLogprob` for each of `token_ids`, when the request asks for them."""


class Channel(Protocol):
    """What the engine asks of a channel; lab 05's answer plugs in here."""

    def put(self, text: str, token_ids: tuple[int, ...]) -> None:
        """Add what one step committed; neither blocks nor drops."""
        ...

    def close(self, finish_reason: str) -> None:
        """No more will come."""
        ...

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        """What waits, merged; None when nothing does."""
        ...

    @property
    def paused(self) -> bool:
        """True from the high mark on, until the low mark is reached: the scheduler plans nothing."""
        ...

    @property
    def unsent(self) -> int:
        """Committed tokens that the caller has not taken (C4)."""
        ...

    @property
    def sent(self) -> int:
        """Tokens that the caller has taken (C4)."""
        ...


def watch(
    unsent: int, paused_since: float | None, now: float, high: int, low: int, limit_s: float | None
) -> tuple[float | None, bool]:
    """What a boundary decides about one stream: (paused since, ended as a slow consumer) (A13, convention 6).

    A stream pauses at the high mark and goes on at the low one. One that was paused for `limit_s` seconds
    ends, at equality; the limit is looked at before the marks. None: no limit.
    """
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


class PlainChannel:
    """The channel in its simplest form: a list of entries and two marks. For one thread.

    Args:
        high: unsent tokens at which `paused` turns on.
        low: unsent tokens at which it turns off again.
    """

    def __init__(self, high: int, low: int) -> None:
        self.high = high
        self.low = low
        self.waiting: list[tuple[str, list[int]]] = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason: str | None = None
        self.ended = False

    def put(self, text: str, token_ids: Sequence[int]) -> None:
        if self.finish_reason is not None:
            return
        self.waiting.append((text, list(token_ids)))
        self.unsent += len(token_ids)
        if self.unsent >= self.high:
            self.paused = True

    def close(self, finish_reason: str) -> None:
        if self.finish_reason is None:
            self.finish_reason = finish_reason

    def take(self, most: int) -> tuple[str, list[int], str | None] | None:
        text = ""
        token_ids: list[int] = []
        first = True
        while self.waiting and (first or len(token_ids) + len(self.waiting[0][1]) <= most):
            first = False
            piece, ids = self.waiting.pop(0)
            text += piece
            token_ids += ids
        self.sent += len(token_ids)
        self.unsent -= len(token_ids)
        if self.unsent <= self.low:
            self.paused = False
        reason = None if self.waiting or self.ended else self.finish_reason
        self.ended = self.ended or reason is not None
        if not text and not token_ids and reason is None:
            return None
        return text, token_ids, reason


class TokenChannel:
    """Credits counted in unsent tokens, with a high and a low mark.

    `put` and `close` belong to the engine's thread, `take` to the caller's; the counts may be read anywhere.

    Args:
        high: unsent tokens at which `paused` turns on.
        low: unsent tokens at which it turns off again; below `high`.
        on_resume: called from `take`, outside the lock, when it turns off.

    Raises `InvalidField` for marks that make no sense.
    """

    def __init__(self, high: int, low: int, on_resume: Callable[[], None] | None = None) -> None:
        check_int("high", high, 1)
        check_int("low", low, 0, high - 1)
        self._high = high
        self._low = low
        self._on_resume = on_resume
        self._lock = threading.Lock()
        self._entries: deque[tuple[str, tuple[int, ...]]] = deque()
        self._finish_reason: str | None = None
        self._paused = False
        self._unsent = 0
        self._sent = 0
        self._ended = False

    @property
    def paused(self) -> bool:
        """True from the high mark on, until the low mark is reached (convention 8)."""
        return self._paused

    @property
    def unsent(self) -> int:
        """Committed tokens that the caller has not taken (C4)."""
        return self._unsent

    @property
    def sent(self) -> int:
        """Tokens that the caller has taken (C4)."""
        return self._sent

    def put(self, text: str, token_ids: tuple[int, ...]) -> None:
        """Add to what waits. Nothing is accepted after `close`."""
        with self._lock:
            if self._finish_reason is not None or not (text or token_ids):
                return
            self._entries.append((text, token_ids))
            self._unsent += len(token_ids)
            self._paused = self._paused or self._unsent >= self._high

    def close(self, finish_reason: str) -> None:
        """No more will come. What waits is still delivered; the first reason stays."""
        with self._lock:
            self._finish_reason = self._finish_reason or finish_reason

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        """What waits, merged into one chunk: all of it, or entries of up to `max_tokens` tokens.

        An entry is never cut, since its text belongs to all of its tokens: the first one always comes, also
        when one step has committed more than `max_tokens`. The finish reason comes with the last entry.
        None when there is nothing to take. Raises `InvalidField` unless `max_tokens` is at least 1.
        """
        if max_tokens is not None:
            check_int("max_tokens", max_tokens, 1)
        with self._lock:
            texts: list[str] = []
            token_ids: list[int] = []
            while self._entries:
                text, ids = self._entries[0]
                if texts and max_tokens is not None and len(token_ids) + len(ids) > max_tokens:
                    break
                self._entries.popleft()
                texts.append(text)
                token_ids.extend(ids)
            last = not self._entries and self._finish_reason is not None and not self._ended
            if not texts and not last:
                return None
            self._ended = self._ended or last
            self._unsent -= len(token_ids)
            self._sent += len(token_ids)
            resumed = self._paused and self._unsent <= self._low
            self._paused = self._paused and not resumed
        if resumed and self._on_resume is not None:
            self._on_resume()
        return Chunk("".join(texts), tuple(token_ids), self._finish_reason if last else None)
