"""Timelines: what a request did and when, from its event log alone.

Pure functions from events to a picture. Accepts the engine's events, mappings, and the
(event, time) pairs of an exercise log. Times are seconds; one that is not finite is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..lifecycle import TRACE_TRANSITIONS
from .picture import INK, QUIET, Picture, document, element, finite, table, words

WIDTH, LEFT, RIGHT, ROW = 940.0, 150.0, 30.0, 46.0

PHASES: dict[str, tuple[str, str, str]] = {
    # state: (phase, colour, pattern); the colours are the Okabe-Ito set.
    "received": ("received", "#bbbbbb", "dots"),
    "tokenized": ("tokenized", "#999999", "dots"),
    "queued": ("queued", "#e69f00", "rising"),
    "admitted": ("admitted", "#f0e442", "falling"),
    "preprocessing": ("preprocessing", "#f0e442", "falling"),
    "prefill": ("prefill", "#56b4e9", "upright"),
    "decode": ("decode", "#009e73", "plain"),
    "streaming": ("streaming", "#cc79a7", "dots"),
    "preempted": ("preempted", "#d55e00", "level"),
}
ENDS = {"completed": "✔", "finished": "✔", "cancelled": "✖", "timed_out": "⏱", "failed": "⚠"}
PATTERNS = {
    "plain": "",
    "dots": "<circle cx='4' cy='4' r='1.3' fill='#1f2933'/>",
    "rising": "<path d='M0 8 L8 0' stroke='#1f2933' stroke-width='1'/>",
    "falling": "<path d='M0 0 L8 8' stroke='#1f2933' stroke-width='1'/>",
    "upright": "<path d='M4 0 L4 8' stroke='#1f2933' stroke-width='1'/>",
    "level": "<path d='M0 4 L8 4' stroke='#1f2933' stroke-width='1.5'/>",
}


@dataclass
class Life:
    """The parts of one request: (state, start, end) segments, token times, and the end."""

    name: str
    segments: list[tuple[str, float, float]] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    end: str | None = None
    end_at: float | None = None


def read_entry(entry: Any) -> tuple[str, float, str | None, str]:
    """(event, seconds, state after or None, request id) of one event of any of the three forms."""
    if isinstance(entry, Mapping):
        read = entry.get
    elif isinstance(entry, (tuple, list)):
        return str(entry[0]), finite("timestamp", entry[1]), None, "request"
    else:

        def read(key: str, default: Any = None) -> Any:
            return getattr(entry, key, default)

    event = read("event") or read("name")
    at = read("timestamp") if read("timestamp") is not None else read("at")
    state = read("state")
    request_id = read("request_id") or "request"
    return str(event), finite("timestamp", at), None if state is None else str(state), str(request_id)


def lives_of(events: Iterable[Any]) -> list[Life]:
    """One `Life` per request id, in order of first event. An event log may hold many requests."""
    lives: dict[str, Life] = {}
    state_of: dict[str, str] = {}
    since: dict[str, float] = {}
    for entry in events:
        event, at, state, name = read_entry(entry)
        life = lives.setdefault(name, Life(name))
        before = state_of.get(name, "not_arrived")
        after = state or TRACE_TRANSITIONS.get(before, {}).get(event, before)
        if event in ("token", "first_token"):
            life.tokens.append(at)
        if before in PHASES and after != before:
            life.segments.append((before, since[name], at))
        if after != before:
            since[name] = at
        if after in ENDS and life.end is None:
            life.end, life.end_at = after, at
        state_of[name] = after
    return list(lives.values())


def timeline(events: Iterable[Any], title: str = "Timeline") -> Picture:
    """Gantt of the phases of each request in an event log, with a tick for each token.

    Times count from the first event. Raises ValueError for a time that is not finite.
    """
    lives = lives_of(list(events))
    if not lives:
        raise ValueError("there are no events to draw")
    start, stop = _span(lives)
    scale = (WIDTH - LEFT - RIGHT) / (stop - start)

    def place(at: float) -> float:
        return LEFT + (at - start) * scale

    height = 78 + ROW * len(lives)
    body = [_patterns()]
    for row, life in enumerate(lives):
        body.append(_row(life, 30 + ROW * row, place))
    body.append(_axis(start, stop, place, 36 + ROW * len(lives)))
    shown = {state for life in lives for state, _, _ in life.segments}
    body.append(_legend(shown, height - 10))
    alt = f"{title}: " + "; ".join(_sentence(life) for life in lives) + "."
    return Picture(document(WIDTH, height, alt, "".join(body)), alt, _text(lives, start))


def _span(lives: list[Life]) -> tuple[float, float]:
    times = [at for life in lives for _, begin, end in life.segments for at in (begin, end)]
    times += [at for life in lives for at in life.tokens]
    times += [life.end_at for life in lives if life.end_at is not None]
    start, stop = (min(times), max(times)) if times else (0.0, 1.0)
    return start, stop if stop > start else start + 1.0


def _row(life: Life, y: float, place: Any) -> str:
    parts = [words(life.name[:18], LEFT - 12, y + 17, 12, text_anchor="end")]
    for state, begin, end in life.segments:
        x, width = place(begin), place(end) - place(begin)
        phase, colour, pattern = PHASES[state]
        bar: dict[str, Any] = {"x": x, "y": y, "width": max(width, 0.5), "height": 24}
        parts.append(element("rect", fill=colour, stroke=INK, stroke_width=0.6, data_phase=phase, **bar))
        if PATTERNS[pattern]:
            parts.append(element("rect", fill=f"url(#{pattern})", opacity=0.35, **bar))
        if width > 7.5 * len(phase):
            middle = x + width / 2
            parts.append(
                words(phase, middle, y + 16, 12, stroke="#ffffff", stroke_width=3, paint_order="stroke")
            )
    for at in life.tokens:
        parts.append(element("path", d=f"M{place(at):.2f} {y - 5} v34", stroke=INK, stroke_width=1.4))
    if life.end is not None:
        x = min(place(life.end_at), WIDTH - RIGHT)
        parts.append(
            words(f"{ENDS[life.end]} {life.end}", x, y - 8, 12, text_anchor="end", font_weight="bold")
        )
    return element("g", "".join(parts), data_request=life.name)


def _axis(start: float, stop: float, place: Any, y: float) -> str:
    parts = [element("path", d=f"M{LEFT} {y} H{WIDTH - RIGHT}", stroke=INK, stroke_width=1)]
    for index in range(6):
        at = start + (stop - start) * index / 5
        parts.append(element("path", d=f"M{place(at):.2f} {y} v5", stroke=INK, stroke_width=1))
        parts.append(words(_seconds(at - start), place(at), y + 18, 11, fill=QUIET))
    return "".join(parts)


def _legend(states: set[str], y: float) -> str:
    parts, x = [], LEFT
    for state, (phase, colour, pattern) in PHASES.items():
        if state not in states:
            continue
        parts.append(
            element("rect", x=x, y=y - 10, width=14, height=12, fill=colour, stroke=INK, stroke_width=0.6)
        )
        if PATTERNS[pattern]:
            parts.append(
                element("rect", x=x, y=y - 10, width=14, height=12, fill=f"url(#{pattern})", opacity=0.5)
            )
        parts.append(words(phase, x + 19, y, 11, text_anchor="start"))
        x += 30 + 7.2 * len(phase)
    parts.append(words("| token", x, y, 11, text_anchor="start"))
    return "".join(parts)


def _patterns() -> str:
    made = [
        element("pattern", shape, id=name, width=8, height=8, patternUnits="userSpaceOnUse")
        for name, shape in PATTERNS.items()
        if shape
    ]
    return element("defs", "".join(made))


def _seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms" if 0 < value < 1 else f"{value:.4g} s"


def _sentence(life: Life) -> str:
    parts = ", ".join(f"{PHASES[state][0]} {_seconds(end - begin)}" for state, begin, end in life.segments)
    return f"{life.name}: {parts or 'no phase'}, {len(life.tokens)} tokens, end {life.end or 'not yet'}"


def _text(lives: list[Life], start: float) -> str:
    rows = [["request", "phase", "from", "to", "lasts"]]
    for life in lives:
        for state, begin, end in life.segments:
            times = [_seconds(begin - start), _seconds(end - start), _seconds(end - begin)]
            rows.append([life.name, PHASES[state][0], *times])
        if life.end is not None and life.end_at is not None:
            rows.append(
                [life.name, life.end, _seconds(life.end_at - start), "", f"{len(life.tokens)} tokens"]
            )
    return table(rows)


def release_order(held: Sequence[str], given_back: Sequence[str]) -> Picture:
    """What was taken, in order, against what was given back, in order."""
    height = 70.0 + 34.0 * max(len(held), len(given_back), 1)
    body = [words("taken, first on top", 250, 28, 13), words("given back, first on top", 690, 28, 13)]
    where = {name: 60.0 + 34.0 * row for row, name in enumerate(held)}
    for name, y in where.items():
        body.append(_tag(name, 250, y))
    for row, name in enumerate(given_back):
        y = 60.0 + 34.0 * row
        body.append(_tag(name, 690, y))
        if name in where:
            body.append(element("path", d=f"M320 {where[name]} L620 {y}", stroke=QUIET, stroke_width=1.2))
    alt = f"Taken: {', '.join(held) or 'nothing'}. Given back: {', '.join(given_back) or 'nothing'}."
    return Picture(document(WIDTH, height, alt, "".join(body)), alt, alt.replace(". ", ".\n"))


def _tag(name: str, x: float, y: float) -> str:
    frame = element("rect", x=x - 70, y=y - 14, width=140, height=28, rx=6, fill="#e8f1fa", stroke=INK)
    return frame + words(name, x, y + 5, 13)
