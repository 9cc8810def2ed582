"""Which token ids can matter to an end, as one bit mask for each id (A6, W5).

Owns a table over the vocabulary. It ends nothing: a marked token only makes the engine look closely.
Invariant: a token without the bits of a request can neither end it nor begin one of its stop strings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sampling import SamplingParams
from .vocabulary import Vocabulary

STOP_ID = 1
"""EOS, or an id that some request gave as a stop token."""
TEXT = 2
"""Holds a character that begins some stop string, or no whole characters, or is hidden."""
_UNREAD = 4
"""Nobody has looked at the token's text yet."""
NO_ID = 8
"""Not a whole number, or one outside the vocabulary."""


class TokenMarks:
    """Marks for the stops of all requests so far; each stop adds marks and none is taken away."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # The last entry stands for every id outside the vocabulary.
        self._marks = np.full(vocabulary.size + 1, _UNREAD, np.int64)
        self._marks[-1] = STOP_ID | TEXT | NO_ID
        self._mark_ids(vocabulary.eos_token_ids)
        self._first_chars: set[str] = set()

    def add(self, params: SamplingParams) -> int:
        """Mark what the stops of `params` begin with. Returns the bits that its request must look at."""
        self._mark_ids(params.stop_token_ids)
        chars = {stop[0] for stop in params.stop} - self._first_chars
        if chars:
            self._first_chars |= chars
            self._marks[:-1] = (self._marks[:-1] & STOP_ID) | _UNREAD
        return NO_ID | STOP_ID | TEXT | _UNREAD if params.stop else NO_ID | STOP_ID

    def of(self, token_ids: Sequence[Any]) -> NDArray[np.int64]:
        """int64 [n]: the marks of some ids; all bits for each when one of them is no `int` of 64 bits."""
        try:
            words = array("q", token_ids) if set(map(type, token_ids)) <= {int} else None
        except OverflowError:
            words = None
        if words is None:
            return np.full(len(token_ids), -1, np.int64)
        ids = np.frombuffer(words, np.int64)
        # As unsigned numbers, negative ids are large.
        return self._marks[np.minimum(ids.view(np.uint64), self._vocabulary.size)]

    def is_whole(self, token_id: int) -> bool:
        """True when the token's bytes are one or more whole characters, shown as they are.

        After such a token no byte is pending. The answer also fills in the token's mark.
        """
        text = self._text(token_id)
        loud = text is None or not self._first_chars.isdisjoint(text)
        if 0 <= token_id < self._vocabulary.size:
            self._marks[token_id] = (self._marks[token_id] & STOP_ID) | (TEXT if loud else 0)
        return bool(text)

    def _text(self, token_id: int) -> str | None:
        data, special = self._vocabulary.token(token_id)
        try:
            return None if special else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _mark_ids(self, token_ids: Iterable[int]) -> None:
        for token_id in token_ids:
            if 0 <= token_id < self._vocabulary.size:
                self._marks[token_id] |= STOP_ID
