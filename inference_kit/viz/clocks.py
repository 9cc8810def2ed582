"""The four clocks of a request as bars: what runs, what was disarmed, what stands still, what ran out (A11).

Owns the drawing only. It computes no decision: which clock ran out is asked of the kit, or told. Invariant: a
bar that has no limit or no start is named and not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lifecycle import ClockMarks, Deadlines, first_expired
from .picture import INK, QUIET, Picture, document, element, finite, table, words

LEFT = 120.0
SPAN = 420.0
ROW_H = 34.0
PAD = 14.0
CLOCKS = (
    ("queue", "queue_s", "queued_at", "queue_deadline"),
    ("ttft", "ttft_s", "received_at", "ttft_deadline"),
    ("inter-token", "inter_token_s", "last_token_at", "inter_token_deadline"),
    ("overall", "overall_s", "received_at", "overall_deadline"),
)


def deadline_clocks(
    limits: Mapping[str, Any],
    marks: Mapping[str, Any],
    now: float,
    expired: tuple[str, float] | None = None,
    title: str = "Four clocks",
) -> Picture:
    """Draw the clocks of one request at `now`.

    Args:
        limits: fields of `Deadlines`, in seconds; missing or None: no limit.
        marks: fields of `ClockMarks`, in seconds; missing or None: has not happened.
        now: the time.
        expired: (reason, time) of the clock that ran out; None: the kit's own rule says which.

    Raises ValueError for a time that is no finite number.
    """
    now = finite("now", now)
    end = expired if expired is not None else _ask(limits, marks, now)
    bars = [(*clock, _state(clock, limits, marks, now, end)) for clock in CLOCKS]
    dues = [
        finite(start, marks[start]) + finite(limit, limits[limit])
        for _, limit, start, _, _ in bars
        if limits.get(limit) is not None and marks.get(start) is not None
    ]
    last = max([now, *dues]) + 0.5
    scale = SPAN / last
    body, lines = [], [["clock", "from", "limit", "due", "state"]]
    for row, (name, limit_name, start_name, _, state) in enumerate(bars):
        y = PAD + 24 + ROW_H * row
        body.append(words(name, PAD, y + 17, 12, text_anchor="start"))
        limit, start = limits.get(limit_name), marks.get(start_name)
        if limit is None or start is None:
            body.append(words(state, LEFT, y + 17, 12, text_anchor="start", fill=QUIET))
            lines.append([name, "–", "–", "–", state])
            continue
        body.append(_bar(start, limit, y, scale, state))
        lines.append([name, f"{start:g} s", f"{limit:g} s", f"{start + limit:g} s", state])
    body.append(_now_line(now, scale, len(bars)))
    said = "none ran out" if end is None else f"{end[0]} at {end[1]:g} s"
    alt = f"{title} at {now:g} s: {said}."
    svg = document(LEFT + SPAN + 190, PAD * 2 + 40 + ROW_H * len(bars), alt, "".join(body))
    return Picture(svg, alt, f"{table(lines)}\nat {now:g} s: {said}")


def _ask(limits: Mapping[str, Any], marks: Mapping[str, Any], now: float) -> tuple[str, float] | None:
    found = first_expired(Deadlines(**limits), ClockMarks(**marks), now)
    return None if found is None else (str(found[0]), found[1])


def _state(
    clock: tuple[str, str, str, str],
    limits: Mapping[str, Any],
    marks: Mapping[str, Any],
    now: float,
    end: tuple[str, float] | None,
) -> str:
    """One word or two about a clock."""
    name, limit, start, reason = clock
    if limits.get(limit) is None:
        return "no limit"
    if marks.get(start) is None:
        return "has not started"
    if end is not None and str(end[0]) == reason:
        return "ran out: the cause"
    if name == "queue" and marks.get("admitted_at") is not None:
        return "disarmed by the admission"
    if name == "ttft" and marks.get("first_token_at") is not None:
        return "disarmed by the first token"
    if name == "inter-token" and marks.get("paused"):
        return "stands still: slow reader"
    return "ran out later" if now >= marks[start] + limits[limit] else "runs"


def _bar(start: float, limit: float, y: float, scale: float, state: str) -> str:
    fill, dashes = {"runs": ("#cfe8d5", "none"), "ran out: the cause": ("#f4b6a6", "none")}.get(
        state, ("#eef2f6", "4 3")
    )
    x, width = LEFT + start * scale, max(limit * scale, 2.0)
    box = element(
        "rect", x=x, y=y, width=width, height=22, rx=3, fill=fill, stroke=INK, stroke_dasharray=dashes
    )
    due = words(f"{start + limit:g} s", x + width - 4, y + 15, 11, text_anchor="end")
    return box + due + words(state, LEFT + SPAN + 12, y + 16, 12, text_anchor="start", fill=INK)


def _now_line(now: float, scale: float, rows: int) -> str:
    x, bottom = LEFT + now * scale, PAD + 28 + ROW_H * rows
    line = element(
        "line", x1=x, y1=PAD + 16, x2=x, y2=bottom, stroke=INK, stroke_width=1.6, stroke_dasharray="2 2"
    )
    return line + words(f"now {now:g} s", x, PAD + 12, 12, font_weight="bold")
