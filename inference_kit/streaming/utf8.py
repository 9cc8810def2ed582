"""Bytes in, whole code points out (A6, convention 1).

Owns at most three pending bytes. Invariant: the concatenation of all returned strings is
`all_bytes.decode("utf-8", "replace")`, for every way to cut the bytes into pushes.
"""

from __future__ import annotations

from codecs import utf_8_decode
from typing import Protocol

REPLACEMENT = "\ufffd"
CONTINUATION = range(0x80, 0xC0)
SECOND_BYTE = {
    0xE0: range(0xA0, 0xC0),
    0xED: range(0x80, 0xA0),
    0xF0: range(0x90, 0xC0),
    0xF4: range(0x80, 0x90),
}
"""First bytes whose second byte is narrower than `CONTINUATION`: it keeps out overlong forms, surrogates
and what lies above U+10FFFF (the Unicode standard's table of well-formed UTF-8 byte sequences)."""

SURROGATE_STARTS = frozenset(bytes([0xED, second]) for second in range(0xA0, 0xC0))
"""Pairs that the standard library keeps back, though no well-formed character begins with them."""


class Decoder(Protocol):
    """What the engine asks of a decoder; lab 03's answer plugs in here."""

    def push(self, data: bytes) -> str:
        """The text that `data` completes."""
        ...

    def finish(self) -> str:
        """The text of an incomplete tail: one U+FFFD, or nothing."""
        ...


def tail_length(data: bytes) -> int:
    """Bytes at the end of `data` that begin a well-formed character and do not finish it: 0 .. 3."""
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        is_start = length == 1 or start[1] in allowed
        return length if is_start and length < needed else 0
    return 0


class PlainUtf8Decoder:
    """Keeps an incomplete character back and decodes the rest.

    What is kept back is the start of a well-formed character, a maximal subpart: so the replacement of
    ill-formed bytes is the same as for the whole.
    """

    def __init__(self) -> None:
        self.pending = b""

    def push(self, data: bytes) -> str:
        data = self.pending + data
        whole = len(data) - tail_length(data)
        self.pending = data[whole:]
        return data[:whole].decode("utf-8", "replace")

    def finish(self) -> str:
        rest, self.pending = self.pending, b""
        return rest.decode("utf-8", "replace")


class Utf8Decoder:
    """Incremental UTF-8 on the standard library's decoder, which says how many bytes it could use.

    Ill-formed bytes become U+FFFD by maximal subparts. A leading U+FEFF is content and stays.
    """

    def __init__(self) -> None:
        self._pending = b""

    def push(self, data: bytes) -> str:
        if self._pending:
            data = self._pending + data
        elif data.isascii():
            return data.decode("ascii")
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        return text

    def finish(self) -> str:
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")
