"""A table as a picture: rows and columns of short texts, some of them marked.

Pure functions. A marked cell has a frame and bold text, so that colour alone says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .picture import INK, QUIET, Picture, document, element, table, words

CELL_H = 26.0
PAD = 14.0
MAX_CHARS = 34


def grid(
    rows: Sequence[Sequence[Any]],
    title: str,
    marked: Sequence[tuple[int, int]] = (),
    note: str = "",
) -> Picture:
    """Draw `rows` (the first one is the heading). `marked`: (row, column) of cells to stress.

    Raises ValueError for no rows, or rows of different lengths.
    """
    texts = [[_short(cell) for cell in row] for row in rows]
    if not texts or any(len(row) != len(texts[0]) for row in texts):
        raise ValueError("a grid needs rows of one length")
    widths = [_width(max(len(row[column]) for row in texts)) for column in range(len(texts[0]))]
    total, height = sum(widths) + 2 * PAD, CELL_H * len(texts) + 2 * PAD + (24 if note else 0)
    stressed = set(marked)
    body: list[str] = []
    framed: list[str] = []
    for number, row in enumerate(texts):
        x, y = PAD, PAD + CELL_H * number
        for column, text in enumerate(row):
            mark = (number, column) in stressed
            # Stressed cells come last, so that no neighbour covers their frame.
            (framed if mark else body).append(_cell(text, x, y, widths[column], number == 0, mark))
            x += widths[column]
    body += framed
    if note:
        body.append(words(note, PAD, height - 12, 12, fill=QUIET, text_anchor="start"))
    text = table(texts) + (f"\n{note}" if note else "")
    alt = f"{title}: a table of {len(texts) - 1} rows." + (f" {note}" if note else "")
    return Picture(document(max(total, 7.2 * len(note) + 2 * PAD), height, alt, "".join(body)), alt, text)


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _width(chars: int) -> float:
    return 7.6 * chars + 18


def _cell(text: str, x: float, y: float, width: float, head: bool, stressed: bool) -> str:
    fill = "#dfe7ee" if head else "#ffe9a8" if stressed else "#ffffff"
    frame = element(
        "rect", x=x, y=y, width=width, height=CELL_H, fill=fill,
        stroke=INK if stressed else "#b8c2cc", stroke_width=2.4 if stressed else 0.8,
    )  # fmt: skip
    weight = "bold" if head or stressed else "normal"
    return frame + words(text, x + width / 2, y + 17.5, 12, font_weight=weight)
