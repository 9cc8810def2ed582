"""The stream hold-back view: push by push, what came, what was sent, and what waits (A6, convention 3).

Owns the drawing only. It looks at a stream through `push` and `finish`, so any stream can be shown, a
learner's too. Invariant: it never shows more than the last `MAX_ROWS` pushes, and says so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..streaming import StreamingText, tail_length
from .picture import INK, QUIET, Picture, document, element, table, words

MAX_ROWS = 40
ROW_H = 30.0
PAD = 14.0
IN_W = 150.0
CHAR_W = 9.0
MAX_SHOWN = 46
"""Characters of sent text in a row; older ones are cut off on the left."""


class Stream(Protocol):
    """What is looked at."""

    def push(self, data: Any) -> str: ...

    def finish(self) -> str: ...


@dataclass(frozen=True)
class Row:
    """One push: what came in, all that was sent before, what is sent now, and what waits."""

    label: str
    before: str
    now: str
    waits: str


def hold_back(
    pieces: Iterable[bytes | str],
    stop: Sequence[str] = (),
    stream: Stream | None = None,
    title: str = "What is sent and what waits",
) -> Picture:
    """Push `pieces` into a stream and draw what happens.

    Args:
        pieces: bytes of tokens, or pieces of text, as the stream takes them.
        stop: stop strings of the kit's own stream; used when `stream` is None.
        stream: any object with `push` and `finish`; None: the kit's `StreamingText`.
    """
    rows = rows_of(pieces, _KitStream(stop) if stream is None else stream)
    left_out = max(0, len(rows) - MAX_ROWS)
    shown = rows[left_out:]
    height = ROW_H * (len(shown) + 1) + 2 * PAD
    longest = max(
        (_width(_end(row.before)) + _width(row.now) + _width(row.waits) for row in shown), default=0.0
    )
    width = max(IN_W + longest + 3 * PAD + 8, 480.0)
    body = [
        words("push", PAD, PAD + 18, 12, text_anchor="start", font_weight="bold"),
        words(
            "sent before · sent now · waits",
            PAD + IN_W,
            PAD + 18,
            12,
            text_anchor="start",
            font_weight="bold",
        ),
    ]
    for number, row in enumerate(shown, 1):
        body.append(_draw(row, PAD + ROW_H * number))
    lines = [["push", "sent now", "waits"], *([row.label, repr(row.now), row.waits or "–"] for row in shown)]
    note = f"\n{left_out} earlier pushes are left out" if left_out else ""
    waiting = sum(bool(row.waits) for row in rows)
    sent = "".join(row.now for row in rows)
    alt = f"{title}: {len(rows) - 1} pushes, something waits after {waiting} of them; sent in all: {sent!r}."
    return Picture(document(width, height, alt, "".join(body)), alt, table(lines) + note)


class _KitStream:
    """`StreamingText`, for text as well."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stream = StreamingText(stop)
        self.finish = self._stream.finish

    def push(self, data: bytes | str) -> str:
        return self._stream.push(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))

    @property
    def stop_reason(self) -> str | None:
        return self._stream.stop_reason


def rows_of(pieces: Iterable[bytes | str], stream: Stream) -> list[Row]:
    """One row for each push, and a last one for `finish`."""
    rows: list[Row] = []
    data, sent = b"", ""
    for piece in pieces:
        now = stream.push(piece)
        over = getattr(stream, "stop_reason", None) is not None
        data += piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace")
        label = piece.hex(" ") if isinstance(piece, bytes) else repr(piece)
        rows.append(Row(label, sent, now, "" if over else _waiting(data, sent + now)))
        sent += now
    rows.append(Row("finish()", sent, stream.finish(), ""))
    return rows


def _waiting(data: bytes, sent: str) -> str:
    """The text behind what was sent; bytes of an incomplete character in hex."""
    whole = len(data) - tail_length(data)
    text = data[:whole].decode("utf-8", "replace")[len(sent) :]
    tail = data[whole:].hex(" ")
    return " ".join(part for part in (text, tail) if part)


def _draw(row: Row, y: float) -> str:
    parts = [words(row.label, PAD, y + 19, 12, text_anchor="start", fill=QUIET)]
    x = PAD + IN_W
    boxes = (
        (_end(row.before), "#eef2f6", "", QUIET),
        (row.now, "#cfe8d5", "", INK),
        (row.waits, "#ffe9a8", "5 3", INK),
    )
    for text, fill, dashes, ink in boxes:
        if not text:
            continue
        width = _width(text)
        parts.append(
            element("rect", x=x, y=y + 3, width=width, height=ROW_H - 6, rx=3, fill=fill, stroke=ink,
                    stroke_width=1, stroke_dasharray=dashes or "none")
        )  # fmt: skip
        parts.append(words(text, x + width / 2, y + 19, 13, fill=ink))
        x += width + 4
    return "".join(parts)


def _end(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else "…" + text[-MAX_SHOWN:]


def _width(text: str) -> float:
    """Room for a text in the picture; wide characters take twice as much."""
    if not text:
        return 0.0
    return 10 + CHAR_W * sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
