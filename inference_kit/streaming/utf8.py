"""Bytes in, whole code points out (A6, convention 1).

Owns at most three pending bytes. Invariant: the concatenation of all returned strings is
`all_bytes.decode("utf-8", "replace")`, for every way to cut the bytes into pushes.
"""

from __future__ import annotations

import codecs
from typing import Protocol


class Decoder(Protocol):
    """What the engine asks of a decoder; lab 03's answer plugs in here."""

    def push(self, data: bytes) -> str:
        """The text that `data` completes."""
        ...

    def finish(self) -> str:
        """The text of an incomplete tail: one U+FFFD, or nothing."""
        ...


class Utf8Decoder:
    """Incremental UTF-8 on the standard library's decoder.

    Ill-formed bytes become U+FFFD by maximal subparts. A leading U+FEFF is content and stays.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, data: bytes) -> str:
        return self._decoder.decode(data)

    def finish(self) -> str:
        return self._decoder.decode(b"", final=True)
