"""The text of one answer as it may be shown: decoded, held back, stopped (A6, A7).

Owns the held-back tail and the text so far. Invariants: text never shrinks; what was returned by
`push` and `finish` joins to `.text`; nothing is returned that could still be part of a stop string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .stop import Matcher, StopMatcher
from .utf8 import Decoder, Utf8Decoder


class StreamingText:
    """Turns the bytes of tokens into text.

    Args:
        stop: strings that end the text (conventions 2 and 3).
        include_stop: keep the matched stop string in the text.
        min_tokens: stop strings completed by one of the first `min_tokens` pushes are ordinary text.
        decoder, matcher: replaceable parts; by default the kit's own.
    """

    def __init__(
        self,
        stop: Iterable[str] = (),
        include_stop: bool = False,
        min_tokens: int = 0,
        decoder: Callable[[], Decoder] = Utf8Decoder,
        matcher: Callable[[Iterable[str]], Matcher] = StopMatcher,
    ) -> None:
        self.stopped = False
        self.stop_reason: str | None = None
        self._include_stop = include_stop
        self._min_tokens = min_tokens
        self._decoder = decoder()
        self._matcher = matcher((stop,) if isinstance(stop, str) else stop)
        self._tokens = 0
        self._finished = False
        self._held: list[tuple[str, bool]] = []
        self._shown: list[str] = []

    @property
    def text(self) -> str:
        """All text released so far."""
        return "".join(self._shown)

    def push(self, token_bytes: bytes, special: bool = False) -> str:
        """Take the bytes of one token; return the text that may be shown now.

        `special`: the token is matched against stop strings by its literal text and never shown.
        After a stop, and after `finish`, nothing comes out.
        """
        if self._finished:
            return ""
        self._tokens += 1
        # A hidden token must not break a character whose bytes stand on both sides of it.
        text = token_bytes.decode("utf-8", "replace") if special else self._decoder.push(token_bytes)
        return self._show(self._read(text, visible=not special))

    def finish(self) -> str:
        """End of the answer without a stop string: release what was held back (convention 3)."""
        if self._finished:
            return ""
        rest = self._read(self._decoder.finish(), visible=True)
        if not self.stopped:
            rest += self._take(sum(len(part) for part, _ in self._held))
        self._finished = True
        return self._show(rest)

    def _read(self, text: str, visible: bool) -> str:
        if not text:
            return ""
        before = sum(len(part) for part, _ in self._held)
        self._held.append((text, visible))
        match = self._matcher.push(text, self._tokens > self._min_tokens)
        if match is None:
            return self._take(before + len(text) - self._matcher.held)
        stop, end = match
        self.stopped = self._finished = True
        self.stop_reason = stop
        shown = self._take(before + end - (0 if self._include_stop else len(stop)))
        self._held.clear()
        return shown

    def _take(self, count: int) -> str:
        """Remove the first `count` characters of the held text; return the visible ones."""
        shown: list[str] = []
        while count > 0:
            part, visible = self._held.pop(0)
            if len(part) > count:
                self._held.insert(0, (part[count:], visible))
                part = part[:count]
            count -= len(part)
            if visible:
                shown.append(part)
        return "".join(shown)

    def _show(self, text: str) -> str:
        if text:
            self._shown.append(text)
        return text
