"""The four clocks of a request as bars: what runs, what was disarmed, what stands still, what ran out (A11).

Owns the drawing only. It computes no decision: which clock ran out is asked of the kit, or told. Invariant: a
bar that has no limit or no start is named and not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lifecycle import ClockMarks, Deadlines, FinishReason, first_expired, moved_on
from .picture import INK, QUIET, Picture, document, element, finite, table, words

LEFT = 120.0
SPAN = 420.0
STATE_X = LEFT + SPAN + 12
ROW_H = 34.0
BAR_H = 22.0
PAD = 14.0
CLOCKS = (
    ("queue", "queue_s", "queued_at", "queue_deadline"),
    ("ttft", "ttft_s", "received_at", "ttft_deadline"),
    ("inter-token", "inter_token_s", "last_token_at", "inter_token_deadline"),
    ("overall", "overall_s", "received_at", "overall_deadline"),
)
CAUSE = "ran out: the cause"
STILL = "stands still: slow reader"
FILLS = {"runs": ("#cfe8d5", "none"), CAUSE: ("#f4b6a6", "none")}
"""State to fill and dashes; every other state is pale and dashed."""

Wait = tuple[float, float | None]
"""A wait for the reader, from and to in seconds; to None: it still waits."""
End = tuple[str, float]


@dataclass(frozen=True)
class Bar:
    """One clock. `start` and `limit` are None where there is nothing to draw."""

    name: str
    start: float | None
    limit: float | None
    due: float
    state: str
    waits: tuple[tuple[float, float], ...] = ()


def deadline_clocks(
    limits: Mapping[str, Any],
    marks: Mapping[str, Any],
    now: float,
    expired: End | None = None,
    title: str = "Four clocks",
    waits: Sequence[Wait] = (),
    slow_consumer_s: float | None = None,
) -> Picture:
    """Draw the clocks of one request at `now`.

    Args:
        limits: fields of `Deadlines`, in seconds; missing or None: no limit.
        marks: fields of `ClockMarks`, in seconds; missing or None: has not happened.
        now: the time.
        expired: (reason, time) of the clock that ran out; None: the kit's own rule says which.
        waits: the waits for the reader since the token at `last_token_at`, in order. They are drawn hatched,
            and the inter-token clock is due later by them (convention 6).
        slow_consumer_s: limit of one wait, in seconds; it is drawn as a fifth clock.

    Raises ValueError for a time that is no finite number.
    """
    now = finite("now", now)
    waits = [(finite("wait", begin), None if end is None else finite("wait", end)) for begin, end in waits]
    paused = bool(marks.get("paused")) or any(end is None for _, end in waits)
    moved = {**marks, "paused": paused}
    for begin, end in waits:
        if end is not None and moved.get("last_token_at") is not None:
            moved["last_token_at"] = moved_on(moved["last_token_at"], begin, end)
    found = expired if expired is not None else _ask(limits, moved, now, waits, slow_consumer_s)
    bars = [_bar_of(clock, limits, marks, moved, now, found) for clock in CLOCKS]
    bars[2] = _with_waits(bars[2], waits, now)
    if slow_consumer_s is not None:
        bars.append(_slow_bar(finite("slow_consumer_s", slow_consumer_s), waits, now, found))
    return _picture(bars, now, found, title)


def _ask(
    limits: Mapping[str, Any],
    marks: Mapping[str, Any],
    now: float,
    waits: Sequence[Wait],
    slow_consumer_s: float | None,
) -> End | None:
    """By the kit's own rule: the limit that passed first, the one of the reader among them."""
    ends = []
    first = first_expired(Deadlines(**limits), ClockMarks(**marks), now)
    if first is not None:
        ends.append((str(first[0]), first[1]))
    if slow_consumer_s is not None:
        dues = [begin + slow_consumer_s for begin, end in waits if end is None]
        ends += [(str(FinishReason.SLOW_CONSUMER), due) for due in dues if due <= now]
    return min(ends, key=lambda end: end[1], default=None)


def _bar_of(
    clock: tuple[str, str, str, str],
    limits: Mapping[str, Any],
    marks: Mapping[str, Any],
    moved: Mapping[str, Any],
    now: float,
    end: End | None,
) -> Bar:
    name, limit_name, start_name, reason = clock
    limit, start = limits.get(limit_name), marks.get(start_name)
    if limit is None:
        return Bar(name, None, None, 0.0, "no limit")
    if start is None:
        return Bar(name, None, None, 0.0, "has not started")
    due = finite(start_name, moved[start_name]) + finite(limit_name, limit)
    if end is not None and str(end[0]) == reason:
        state = CAUSE
    elif name == "queue" and marks.get("admitted_at") is not None:
        state = "disarmed by the admission"
    elif name == "ttft" and marks.get("first_token_at") is not None:
        state = "disarmed by the first token"
    elif name == "inter-token" and moved["paused"]:
        state = STILL
    else:
        state = "ran out later" if now >= due else "runs"
    return Bar(name, finite(start_name, start), limit, due, state)


def _with_waits(bar: Bar, waits: Sequence[Wait], now: float) -> Bar:
    """The inter-token clock with its waits; one that still lasts makes it due later and later."""
    if bar.start is None or not waits:
        return bar
    closed = tuple((begin, now if end is None else end) for begin, end in waits)
    due = bar.due + sum(now - max(begin, bar.start) for begin, end in waits if end is None)
    return Bar(bar.name, bar.start, bar.limit, due, bar.state, closed)


def _slow_bar(limit: float, waits: Sequence[Wait], now: float, end: End | None) -> Bar:
    if not waits:
        return Bar("slow reader", None, None, 0.0, "has not started")
    begin, until = waits[-1]
    if end is not None and str(end[0]) == FinishReason.SLOW_CONSUMER:
        state = CAUSE
    elif until is not None:
        state = "disarmed: the reader came back"
    else:
        state = "ran out later" if now >= begin + limit else "runs"
    return Bar("slow reader", begin, limit, begin + limit, state)


def _picture(bars: Sequence[Bar], now: float, end: End | None, title: str) -> Picture:
    last = max([now, *(bar.due for bar in bars)]) + 0.5
    scale = SPAN / last
    body, lines = [_hatch()], [["clock", "from", "limit", "due", "state"]]
    for row, bar in enumerate(bars):
        y = PAD + 24 + ROW_H * row
        body.append(words(bar.name, PAD, y + 17, 12, text_anchor="start"))
        if bar.start is None or bar.limit is None:
            body.append(words(bar.state, STATE_X, y + 16, 12, text_anchor="start", fill=QUIET))
            lines.append([bar.name, "–", "–", "–", bar.state])
            continue
        body.append(_draw(bar, y, scale))
        due = "later" if bar.state == STILL else f"{bar.due:g} s"
        lines.append([bar.name, f"{bar.start:g} s", f"{bar.limit:g} s", due, bar.state])
    body.append(_now_line(now, scale, len(bars)))
    height = PAD * 2 + 40 + ROW_H * len(bars)
    waited = [f"{begin:g} s to {until:g} s" for bar in bars for begin, until in bar.waits]
    if waited:
        legend = "hatched: waits for the reader, not counted"
        body.append(words(legend, LEFT, height - 12, 11, text_anchor="start", fill=QUIET))
    said = "none ran out" if end is None else f"{end[0]} at {end[1]:g} s"
    said += f"; not counted: {', '.join(waited)}" if waited else ""
    alt = f"{title} at {now:g} s: {said}."
    svg = document(LEFT + SPAN + 220, height, alt, "".join(body))
    return Picture(svg, alt, f"{table(lines)}\nat {now:g} s: {said}")


def _draw(bar: Bar, y: float, scale: float) -> str:
    start = bar.start or 0.0
    fill, dashes = FILLS.get(bar.state, ("#eef2f6", "4 3"))
    x, width = LEFT + start * scale, max((bar.due - start) * scale, 2.0)
    frame: dict[str, Any] = {"stroke": INK, "stroke_dasharray": dashes}
    parts = [element("rect", x=x, y=y, width=width, height=BAR_H, rx=3, fill=fill, **frame)]
    for begin, end in bar.waits:
        left, right = LEFT + max(begin, start) * scale, LEFT + max(end, start) * scale
        parts.append(
            element("rect", x=left, y=y, width=right - left, height=BAR_H, fill="url(#waits)", stroke=QUIET)
        )
    if bar.state != STILL:
        edge: dict[str, Any] = {"stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
        parts.append(words(f"{bar.due:g} s", x + width - 4, y + 15, 11, text_anchor="end", **edge))
    return "".join(parts) + words(bar.state, STATE_X, y + 16, 12, text_anchor="start")


def _hatch() -> str:
    line = element("path", d="M0 8 L8 0", stroke=QUIET, stroke_width=1.2)
    return element(
        "defs", element("pattern", line, id="waits", width=8, height=8, patternUnits="userSpaceOnUse")
    )


def _now_line(now: float, scale: float, rows: int) -> str:
    x, bottom = LEFT + now * scale, PAD + 28 + ROW_H * rows
    line = element(
        "line", x1=x, y1=PAD + 16, x2=x, y2=bottom, stroke=INK, stroke_width=1.6, stroke_dasharray="2 2"
    )
    return line + words(f"now {now:g} s", x, PAD + 12, 12, font_weight="bold")
