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


class PlainUtf8Decoder:
    """Incremental UTF-8 by hand, one byte at a time.

    Pending bytes are always the start of a well-formed character. A byte that cannot go on with it ends
    that start, which is a maximal subpart and becomes one U+FFFD; the byte is then read again as a first one.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._length = 0
        self._allowed = CONTINUATION

    def push(self, data: bytes) -> str:
        return "".join(map(self._take, data))

    def finish(self) -> str:
        rest = REPLACEMENT if self._pending else ""
        self._pending.clear()
        return rest

    def _take(self, byte: int) -> str:
        if not self._pending:
            return self._begin(byte)
        if byte not in self._allowed:
            self._pending.clear()
            return REPLACEMENT + self._begin(byte)
        self._pending.append(byte)
        self._allowed = CONTINUATION
        if len(self._pending) < self._length:
            return ""
        char = self._pending.decode()
        self._pending.clear()
        return char

    def _begin(self, byte: int) -> str:
        if byte < 0x80:
            return chr(byte)
        if not 0xC2 <= byte <= 0xF4:
            return REPLACEMENT
        self._length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        self._allowed = SECOND_BYTE.get(byte, CONTINUATION)
        self._pending.append(byte)
        return ""


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
