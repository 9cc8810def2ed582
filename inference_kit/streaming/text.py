"""The text of one answer as it may be shown: decoded, held back, stopped (A6, A7).

Owns the held-back tail and the text so far. Invariants: text never shrinks; what was returned by
`push` and `finish` joins to `.text`; nothing is returned that could still be part of a stop string.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from io import StringIO

from ..errors import KitError
from .stop import Matcher, StopMatcher
from .utf8 import Decoder, Utf8Decoder


class StreamingText:
    """Turns the bytes of tokens into text.

    There are two cursors (case S13): stop strings are sought in the text of all tokens, and what is shown
    leaves out the special ones. The held tail keeps for each part whether it is visible.

    Args:
        stop: strings that end the text (conventions 2 and 3).
        include_stop: keep the matched stop string in the text.
        min_tokens: stop strings completed by one of the first `min_tokens` pushes are ordinary text.
        decoder, matcher: replaceable parts; by default the kit's own.
        keep_text: False keeps no copy of what was shown: memory is then constant, and `text` is refused.
    """

    def __init__(
        self,
        stop: Iterable[str] = (),
        include_stop: bool = False,
        min_tokens: int = 0,
        decoder: Callable[[], Decoder] = Utf8Decoder,
        matcher: Callable[[Iterable[str]], Matcher] = StopMatcher,
        keep_text: bool = True,
    ) -> None:
        stops = (stop,) if isinstance(stop, str) else tuple(stop)
        self.stopped = False
        self.stop_reason: str | None = None
        self.num_tokens = 0
        """Tokens that belong to the answer: all that were pushed, up to and with the one that stopped it.
        Ids and log-probabilities are cut here (convention 4)."""
        self._include_stop = include_stop
        self._min_tokens = min_tokens
        self._decoder = decoder()
        self._matcher = matcher(stops) if stops else None
        self._finished = False
        self._held: deque[tuple[str, bool]] = deque()
        self._num_held = 0
        self._skipped = 0
        self._shown = StringIO() if keep_text else None

    @property
    def text(self) -> str:
        """All text released so far. Raises `KitError` when it was not kept."""
        if self._shown is None:
            raise KitError("this StreamingText was made with keep_text=False")
        return self._shown.getvalue()

    @property
    def num_held(self) -> int:
        """Characters that wait because they may be the beginning of a stop string (convention 3)."""
        return self._num_held

    def push(self, token_bytes: bytes, special: bool = False) -> str:
        """Take the bytes of one token; return the text that may be shown now.

        `special`: the token is matched against stop strings by its literal text and never shown.
        After a stop, and after `finish`, nothing comes out.
        """
        if self._finished:
            return ""
        self.num_tokens += 1
        # A hidden token must not break a character whose bytes stand on both sides of it.
        text = token_bytes.decode("utf-8", "replace") if special else self._decoder.push(token_bytes)
        return self._show(self._read(text, not special)) if text else ""

    def push_many(self, tokens: Iterable[tuple[bytes, bool]]) -> tuple[str, int]:
        """Take the tokens that one step committed, as (bytes, special). Returns (text, kept).

        The first `kept` tokens belong to the answer, the one that completed a stop string included. The
        others vanish: their ids and log-probabilities must be dropped too (convention 4).
        """
        before, shown = self.num_tokens, []
        for token_bytes, special in tokens:
            if self._finished:
                break
            shown.append(self.push(token_bytes, special))
        return "".join(shown), self.num_tokens - before

    def finish(self) -> str:
        """End of the answer without a stop string: release what was held back (convention 3)."""
        if self._finished:
            return ""
        rest = self._read(self._decoder.finish(), True)
        if not self.stopped:
            rest += self._release(self._num_held)
        self._finished = True
        return self._show(rest)

    def _read(self, text: str, visible: bool) -> str:
        """Match the next text of the answer; return what may be shown now."""
        if self._matcher is None:
            return text if visible else ""
        match = self._matcher.push(text, self.num_tokens > self._min_tokens)
        if match is not None:
            return self._stop(text, visible, *match)
        held = self._matcher.held
        if not held and not self._num_held:
            return text if visible else ""
        self._hold(text, visible)
        return self._release(self._num_held - held)

    def _stop(self, text: str, visible: bool, stop: str, end: int) -> str:
        """End the answer at `end` in `text`, where `stop` was completed."""
        self.stopped = self._finished = True
        self.stop_reason = stop
        begin = end if self._include_stop else end - len(stop)
        before = self._num_held
        self._hold(text, visible)
        shown = self._release(before + begin)
        if begin >= 0:
            # Bytes that wait for the rest of their character came after a visible stop, and vanish with what
            # follows it. They came before a stop inside a special token: then they are the tail of the text.
            shown += "" if visible else self._decoder.finish()
        self._held.clear()
        self._num_held = 0
        return shown

    def _hold(self, text: str, visible: bool) -> None:
        self._held.append((text, visible))
        self._num_held += len(text)

    def _release(self, count: int) -> str:
        """Remove the first `count` held characters; return the visible ones.

        Every character is copied once, however long a part waits.
        """
        shown = []
        while count > 0 and self._held:
            part, visible = self._held[0]
            piece = part[self._skipped : self._skipped + count]
            if visible:
                shown.append(piece)
            count -= len(piece)
            self._num_held -= len(piece)
            self._skipped += len(piece)
            if self._skipped == len(part):
                self._held.popleft()
                self._skipped = 0
        return "".join(shown)

    def _show(self, text: str) -> str:
        if self._shown is not None:
            self._shown.write(text)
        return text
