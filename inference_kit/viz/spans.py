"""Metrics as spans: each duration of a request drawn between its two boundaries (D2).

A pure function from a report of `replay` to a picture. The ends of a span come from the report, the
number on it from whoever computed it. Invariant: a metric without both boundaries has no span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lifecycle import durations
from .picture import INK, QUIET, Picture, document, element, finite, table, words

WIDTH, LEFT, RIGHT, ROW = 760.0, 132.0, 96.0, 32.0
SPANS = (
    ("queue_wait", "arrive", "admit", "#e69f00"),
    ("preprocessing", "admit", "input_ready", "#f0e442"),
    ("prefill", "input_ready", "first_token", "#56b4e9"),
    ("ttft", "arrive", "first_token", "#0072b2"),
    ("token_span", "first_token", "last_token", "#cc79a7"),
    ("decode_time", "first_token", "end", "#009e73"),
    ("e2e", "arrive", "end", "#66727f"),
)
"""Metric, the boundary where it starts, the one where it ends, and its colour."""
_LABELS = ("arrive", "admit", "input_ready", "first_token", "last_token", "end")


def metric_spans(
    report: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    title: str = "Metrics between boundaries",
) -> Picture:
    """One row for each metric of `durations`, from boundary to boundary, on one time axis in seconds.

    `values`: the numbers to write on the rows; the kit's own when left out.
    """
    values = durations(report) if values is None else values
    tokens = report["token_times"]
    at = {name: report[name] for name in _LABELS if name not in ("last_token",)}
    at["last_token"] = tokens[-1] if tokens else None
    known = {name: finite(name, at[name]) for name in _LABELS if at[name] is not None}
    start, stop = known["arrive"], known["end"]
    scale = (WIDTH - LEFT - RIGHT) / ((stop - start) or 1.0)
    place = {name: LEFT + (when - start) * scale for name, when in known.items()}
    lines = _label_lines(place)
    top = 34 + 14 * max(lines.values())
    bottom = top + 22 + ROW * len(SPANS)
    body = [_boundaries(place, lines, bottom)]
    rows = [["metric", "from", "to", "seconds"]]
    for index, (metric, begin, end, colour) in enumerate(SPANS):
        shown = _number(values.get(metric))
        ends = (place[begin], place[end]) if begin in place and end in place else None
        body.append(_row(metric, ends, colour, shown, top + 14 + ROW * index))
        rows.append([metric, begin, end, shown])
    body += [element("path", d=f"M{place['arrive']:.2f} {bottom} H{place['end']:.2f}", stroke=INK)]
    body += [
        element("path", d=f"M{LEFT + (when - start) * scale:.2f} {bottom - 5} v10", stroke=INK)
        for when in tokens
    ]
    body.append(words("tokens", LEFT - 12, bottom + 4, 12, text_anchor="end", fill=QUIET))
    body.append(
        words(f"end: {report['status']} in {report['stage']}", LEFT, bottom + 26, 12, text_anchor="start")
    )
    alt = f"{title}: " + ", ".join(f"{row[0]} {row[3]}" for row in rows[1:]) + f"; end {report['status']}."
    return Picture(document(WIDTH, bottom + 40, alt, "".join(body)), alt, table(rows))


def _number(value: Any) -> str:
    return "None" if value is None else f"{finite('value', value):.4g}"


def _label_lines(place: Mapping[str, float]) -> dict[str, int]:
    """On which line each name stands, so that no two touch, however close their boundaries are."""
    lines: dict[str, int] = {}
    used: list[float] = []
    for name in (label for label in _LABELS if label in place):
        half = 3.6 * len(name) + 4
        line = next((number for number, right in enumerate(used) if place[name] - half > right), len(used))
        used[line:] = [place[name] + half, *used[line + 1 :]]
        lines[name] = line
    return lines


def _boundaries(place: Mapping[str, float], lines: Mapping[str, int], bottom: float) -> str:
    """A thin line for each boundary, its name above."""
    parts = []
    for name, line in lines.items():
        x, y = place[name], 26 + 14 * line
        parts.append(element("path", d=f"M{x:.2f} {y + 4} V{bottom}", stroke="#b8c2cc", stroke_width=1))
        parts.append(words(name, x, y, 11.5, fill=QUIET))
    return "".join(parts)


def _row(metric: str, ends: tuple[float, float] | None, colour: str, shown: str, y: float) -> str:
    label = words(metric, LEFT - 12, y + 12, 12.5, text_anchor="end")
    if ends is None:
        return element(
            "g", label + words(f"{shown}: a boundary is missing", LEFT + 6, y + 12, 12, text_anchor="start")
        )
    begin, end = ends
    bar = element(
        "rect",
        x=begin,
        y=y,
        width=max(end - begin, 2.0),
        height=16,
        fill=colour,
        stroke=INK,
        stroke_width=0.8,
    )
    return element(
        "g",
        label + bar + words(shown, end + 6, y + 12, 12.5, text_anchor="start", font_weight="bold"),
        data_metric=metric,
    )
