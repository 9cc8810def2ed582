"""A request with its way out: the text it becomes and the channel to its caller (C3, C4).

Owns how many committed tokens have been turned into text. It decides no end. Invariants: tokens reach text
and channel in order, each once; nobody can see a channel or a text that lags behind the commits; a part that
raises fails its own request only, whoever called it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from ..lifecycle.record import Record
from ..lifecycle.request import Request
from ..scheduler.plan import TokenLogprob
from ..streaming.channel import Channel, Chunk, TokenChannel
from ..streaming.text import StreamingText
from .vocabulary import Vocabulary


class LiveRequest:
    """A request, its text and its channel. Tokens are turned into text when somebody looks.

    Args:
        text: makes its text.
        vocabulary: bytes of token ids.
        lock: held while tokens move.
        on_look: called when the next boundary must look at this request.
        on_sent: called with the number of tokens that its reader has just taken.
    """

    request: Request
    """Set once, by the engine, before anybody else sees this object."""
    channel: Channel
    """Set once, like `request`."""

    def __init__(
        self,
        text: StreamingText,
        vocabulary: Vocabulary,
        lock: threading.RLock,
        on_look: Callable[[LiveRequest], None],
        on_sent: Callable[[int], None],
    ) -> None:
        self.looks = 0
        """Bits of the tokens that must be looked at, see `TokenMarks`."""
        self.closed = False
        """True when the channel has been told the end, or could not be told it: nothing more will come."""
        self.samples: tuple[LiveRequest, ...] = ()
        """All samples of the prompt, this one included, in order; empty for n = 1."""
        self._text = text
        self._vocabulary = vocabulary
        self._delivered = 0
        self._faulty = False
        self._lock = lock
        self._on_look = on_look
        self._on_sent = on_sent

    @property
    def members(self) -> tuple[LiveRequest, ...]:
        """All samples of the prompt; just this request for n = 1."""
        return self.samples or (self,)

    @property
    def caller_id(self) -> str:
        """The id under which the caller knows the request: that of sample 0."""
        return self.members[0].request.request_id

    @property
    def all_ended(self) -> bool:
        """True when every sample has ended."""
        return all(member.request.is_terminal for member in self.members)

    @property
    def error(self) -> BaseException | None:
        """The fault of the first sample that has one."""
        return next((m.request.error for m in self.members if m.request.error is not None), None)

    @property
    def text(self) -> StreamingText:
        """The text so far, up to the newest committed token."""
        self.pull()
        return self._text

    @property
    def num_undelivered(self) -> int:
        """Committed tokens that are not in the channel yet."""
        return self.request.num_output_tokens - self._delivered

    @property
    def token_counts(self) -> Record:
        """The four counts of C4: proposed, committed, unsent, sent. Never to be added up or mixed.

        Proposed is all that the runner sampled or drafted for the request; committed what entered its ids;
        committed = unsent + sent.
        """
        committed = self.request.num_output_tokens
        return Record(
            proposed=committed + self.request.num_discarded_tokens,
            committed=committed,
            unsent=committed - self.channel.sent,
            sent=self.channel.sent,
        )

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        """What its reader gets next from the channel, counted as sent (C4). Any thread."""
        chunk = self.channel.take(max_tokens)
        if chunk is None or not chunk.token_ids:
            return chunk
        self._on_sent(len(chunk.token_ids))
        if self.request.sampling.logprobs is None:
            return chunk
        sent = self.channel.sent
        return replace(chunk, logprobs=self.logprobs[sent - len(chunk.token_ids) : sent])

    @property
    def logprobs(self) -> tuple[TokenLogprob, ...]:
        """One entry for each committed token; empty when the request does not ask for them."""
        return tuple(self.request.logprobs[: self.request.num_output_tokens])

    def deliver(self, hide_last: bool = False) -> None:
        """Turn every committed token into text and put it into the channel. Any thread.

        `hide_last`: the newest token goes out as an id without text.

        Raises what a part raises; then nothing is delivered any more: an answer has no holes.
        """
        with self._lock:
            if self._faulty:
                return
            self._faulty = True
            request = self.request
            first = len(request.prompt_token_ids) + self._delivered
            for position in range(first, len(request.token_ids)):
                token_id = request.token_ids[position]
                hidden = hide_last and position == len(request.token_ids) - 1
                text = "" if hidden else self._text.push(*self._vocabulary.token(token_id))
                self._delivered += 1
                self.channel.put(text, (token_id,))
            self._faulty = False

    def pull(self) -> None:
        """`deliver` for a reader: when a part raises, the request fails and its reader goes on."""
        try:
            self.deliver()
        except Exception as error:
            self.request.error = self.request.error or error
            self.ask_for_a_look()

    def ask_for_a_look(self) -> None:
        """Have the next boundary look at this request. Any thread."""
        self._on_look(self)


class PulledChannel(TokenChannel):
    """The kit's channel, filled when its reader comes rather than at each commit."""

    def __init__(self, live: LiveRequest, high: int, low: int) -> None:
        super().__init__(high, low, live.ask_for_a_look)
        self._live = live

    @property
    def unsent(self) -> int:
        """Committed tokens that the caller has not taken (C4)."""
        return super().unsent + self._live.num_undelivered

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        """As `TokenChannel.take`, up to the newest committed token."""
        self._live.pull()
        return super().take(max_tokens)
