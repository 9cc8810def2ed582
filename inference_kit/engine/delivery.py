"""A request with its way out: the text it becomes and the channel to its caller (C3, C4).

Owns how many committed tokens have been turned into text. It decides no end. Invariants: tokens reach text
and channel in order, each once; nobody can see a channel or a text that lags behind the commits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..lifecycle.request import Request
from ..streaming.channel import Channel, Chunk, TokenChannel
from ..streaming.stop import Matcher
from ..streaming.text import StreamingText
from .vocabulary import Vocabulary


class LiveRequest:
    """A request, its text and its channel. Tokens are turned into text when somebody looks.

    Args:
        request: the request.
        text, matcher: makes its text; the matcher inside it, which says how much is held back.
        vocabulary: bytes of token ids.
        looks: bits of the tokens that must be looked at, see `TokenMarks`.
        lock: held while tokens move.
    """

    def __init__(
        self,
        request: Request,
        text: StreamingText,
        matcher: Matcher,
        vocabulary: Vocabulary,
        looks: int,
        lock: threading.RLock,
    ) -> None:
        self.request = request
        self.channel: Channel
        self.matcher = matcher
        self.looks = looks
        self._text = text
        self._vocabulary = vocabulary
        self._delivered = 0
        self._lock = lock

    @property
    def text(self) -> StreamingText:
        """The text so far, up to the newest committed token."""
        self.deliver()
        return self._text

    @property
    def num_undelivered(self) -> int:
        """Committed tokens that are not in the channel yet."""
        return self.request.num_output_tokens - self._delivered

    def deliver(self, hide_last: bool = False) -> None:
        """Turn every committed token into text and put it into the channel. Any thread.

        `hide_last`: the newest token goes out as an id without text.
        """
        with self._lock:
            request = self.request
            first = len(request.prompt_token_ids) + self._delivered
            for position in range(first, len(request.token_ids)):
                token_id = request.token_ids[position]
                hidden = hide_last and position == len(request.token_ids) - 1
                text = "" if hidden else self._text.push(*self._vocabulary.token(token_id))
                self._delivered += 1
                self.channel.put(text, (token_id,))


class PulledChannel(TokenChannel):
    """The kit's channel, filled when its reader comes rather than at each commit."""

    def __init__(self, live: LiveRequest, high: int, low: int, on_resume: Callable[[], None]) -> None:
        super().__init__(high, low, on_resume)
        self._live = live

    @property
    def unsent(self) -> int:
        """Committed tokens that the caller has not taken (C4)."""
        return super().unsent + self._live.num_undelivered

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        """As `TokenChannel.take`, up to the newest committed token."""
        self._live.deliver()
        return super().take(max_tokens)
