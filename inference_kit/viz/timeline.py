"""Timelines: what a request did and when, from its event log alone.

Pure functions from events to a picture. Accepts the engine's events, mappings, and the
(event, time) pairs of an exercise log. Times are seconds; one that is not finite is refused.
Invariant: each request of the log has its row, also one that has not ended yet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..lifecycle import TRACE_TRANSITIONS
from .picture import INK, QUIET, Picture, document, element, finite, table, words

WIDTH, LEFT, RIGHT, TOP = 940.0, 170.0, 122.0, 22.0
NAME_CHARS = 20
MANY = 12
"""More requests than this get low rows, and an alt text that counts in place of one that lists."""


@dataclass(frozen=True)
class RowForm:
    """How one row is drawn: distances and letters in pixels."""

    pitch: float
    bar: float
    letters: float
    overhang: float
    """How far a token's tick stands out of the bar, above and below."""


ROOMY, LOW = RowForm(40.0, 24.0, 13.0, 5.0), RowForm(22.0, 16.0, 11.0, 0.0)

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
ENDS = {"completed": "✔", "finished": "✔", "cancelled": "✖", "timed_out": "◷", "failed": "⚠"}
NOT_ENDED = "… not ended"
PAUSE = "#d55e00"
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
    """What one request did: (state, start, end) segments, times of tokens and preemptions, and the end."""

    name: str
    segments: list[tuple[str, float, float]] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    preempted: list[float] = field(default_factory=list)
    end: str | None = None
    end_at: float | None = None

    @property
    def last(self) -> float | None:
        """The end, or as far as the log goes; None for a request that did nothing."""
        return self.segments[-1][2] if self.end_at is None and self.segments else self.end_at


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
    """One `Life` per request id, in order of first event. An event log may hold many requests.

    The last phase of a request that has not ended goes as far as the log.
    """
    lives: dict[str, Life] = {}
    state_of: dict[str, str] = {}
    since: dict[str, float] = {}
    log_end = -math.inf
    for entry in events:
        event, at, state, name = read_entry(entry)
        log_end = max(log_end, at)
        life = lives.setdefault(name, Life(name))
        before = state_of.get(name, "not_arrived")
        after = state or TRACE_TRANSITIONS.get(before, {}).get(event, before)
        if event in ("token", "first_token"):
            life.tokens.append(at)
        if after != before:
            if before in PHASES:
                life.segments.append((before, since[name], at))
            if after == "preempted":
                life.preempted.append(at)
            since[name] = at
        if after in ENDS and life.end is None:
            life.end, life.end_at = after, at
        state_of[name] = after
    for name, life in lives.items():
        if life.end is None and state_of[name] in PHASES:
            life.segments.append((state_of[name], since[name], log_end))
    return list(lives.values())


def timeline(events: Iterable[Any], title: str = "Timeline") -> Picture:
    """Gantt of the phases of each request in an event log, with a tick for each token.

    A preemption takes no time of its own, so a triangle marks it. Times count from the first event.
    Raises ValueError for a time that is not finite.
    """
    lives = lives_of(list(events))
    if not lives:
        raise ValueError("there are no events to draw")
    start, stop = _span(lives)
    scale = (WIDTH - LEFT - RIGHT) / (stop - start)

    def place(at: float) -> float:
        return LEFT + (at - start) * scale

    form = LOW if len(lives) > MANY else ROOMY
    below = TOP + form.pitch * len(lives)
    body = [_patterns()]
    body += [_row(life, TOP + form.pitch * row, form, place) for row, life in enumerate(lives)]
    body += [_axis(start, stop, place, below), _legend(lives, below + 46)]
    alt = f"{title}: {_summary(lives, stop - start)}."
    return Picture(document(WIDTH, below + 62, alt, "".join(body)), alt, _text(lives, start))


def _span(lives: list[Life]) -> tuple[float, float]:
    times = [at for life in lives for _, begin, end in life.segments for at in (begin, end)]
    times += [at for life in lives for at in life.tokens]
    times += [life.end_at for life in lives if life.end_at is not None]
    start, stop = (min(times), max(times)) if times else (0.0, 1.0)
    return start, stop if stop > start else start + 1.0


def _row(life: Life, y: float, form: RowForm, place: Any) -> str:
    base = y + form.bar / 2 + form.letters * 0.36
    name = life.name if len(life.name) <= NAME_CHARS else life.name[: NAME_CHARS - 1] + "…"
    parts = [words(name, LEFT - 10, base, min(form.letters, 12), text_anchor="end")]
    parts += [_bar(segment, y, form, place) for segment in life.segments]
    parts += [_tick(at, y, form, place) for at in life.tokens]
    # Words come after the ticks, so that no tick strikes them through.
    parts += [_phase_name(segment, base, form, place) for segment in life.segments]
    parts += [_triangle(place(at), y, data_mark="preempted") for at in life.preempted]
    if life.last is not None:
        says = NOT_ENDED if life.end is None else f"{ENDS[life.end]} {life.end}"
        settings = {"text_anchor": "start", "font_weight": "normal" if life.end is None else "bold"}
        parts.append(words(says, place(life.last) + 8, base, form.letters, **settings))
    return element("g", "".join(parts), data_request=life.name)


def _bar(segment: tuple[str, float, float], y: float, form: RowForm, place: Any) -> str:
    state, begin, end = segment
    phase, colour, pattern = PHASES[state]
    width = max(place(end) - place(begin), 0.5)
    shape: dict[str, Any] = {"x": place(begin), "y": y, "width": width, "height": form.bar}
    bar = element("rect", fill=colour, stroke=INK, stroke_width=0.6, data_phase=phase, **shape)
    return bar + (
        element("rect", fill=f"url(#{pattern})", opacity=0.35, **shape) if PATTERNS[pattern] else ""
    )


def _tick(at: float, y: float, form: RowForm, place: Any) -> str:
    length = form.bar + 2 * form.overhang
    return element(
        "path", d=f"M{place(at):.2f} {y - form.overhang:.2f} v{length:.2f}", stroke=INK,
        stroke_width=1.4 if form.overhang else 0.8,
    )  # fmt: skip


def _phase_name(segment: tuple[str, float, float], base: float, form: RowForm, place: Any) -> str:
    state, begin, end = segment
    phase = PHASES[state][0]
    if place(end) - place(begin) <= 0.66 * form.letters * len(phase):
        return ""
    middle = (place(begin) + place(end)) / 2
    return words(phase, middle, base, form.letters, stroke="#ffffff", stroke_width=3, paint_order="stroke")


def _triangle(x: float, y: float, **data: Any) -> str:
    shape = f"M{x - 5:.2f} {y - 5:.2f} h10 l-5 9 z"
    return element("path", d=shape, fill=PAUSE, stroke=INK, stroke_width=0.8, **data)


def _axis(start: float, stop: float, place: Any, y: float) -> str:
    parts = [element("path", d=f"M{LEFT} {y} H{WIDTH - RIGHT}", stroke=INK, stroke_width=1)]
    for index in range(6):
        at = start + (stop - start) * index / 5
        parts.append(element("path", d=f"M{place(at):.2f} {y} v5", stroke=INK, stroke_width=1))
        parts.append(words(_seconds(at - start), place(at), y + 19, 12, fill=QUIET))
    return "".join(parts)


def _legend(lives: list[Life], y: float) -> str:
    states = {state for life in lives for state, _, _ in life.segments}
    parts, x = [], 24.0
    for state, (phase, colour, pattern) in PHASES.items():
        # A preemption takes no time of its own: its sign is the triangle.
        if state not in states or (state == "preempted" and not _lasts(lives, state)):
            continue
        shape: dict[str, Any] = {"x": x, "y": y - 11, "width": 14, "height": 12}
        parts.append(element("rect", fill=colour, stroke=INK, stroke_width=0.6, **shape))
        if PATTERNS[pattern]:
            parts.append(element("rect", fill=f"url(#{pattern})", opacity=0.5, **shape))
        parts.append(words(phase, x + 19, y, 12, text_anchor="start"))
        x += 32 + 7.6 * len(phase)
    if any(life.tokens for life in lives):
        parts.append(words("| token", x, y, 12, text_anchor="start"))
        x += 60
    if any(life.preempted for life in lives):
        parts.append(_triangle(x + 5, y - 6))
        parts.append(words("preempted", x + 15, y, 12, text_anchor="start"))
    return "".join(parts)


def _lasts(lives: list[Life], state: str) -> bool:
    """Whether a bar of this state is wide enough to be seen."""
    start, stop = _span(lives)
    seen = (stop - start) / (WIDTH - LEFT - RIGHT)
    return any(end - begin > seen for life in lives for name, begin, end in life.segments if name == state)


def _patterns() -> str:
    made = [
        element("pattern", shape, id=name, width=8, height=8, patternUnits="userSpaceOnUse")
        for name, shape in PATTERNS.items()
        if shape
    ]
    return element("defs", "".join(made))


def _seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms" if 0 < value < 1 else f"{value:.4g} s"


def _summary(lives: list[Life], lasts: float) -> str:
    if len(lives) <= MANY:
        return "; ".join(_sentence(life) for life in lives)
    ends = Counter(life.end or "not ended" for life in lives)
    tokens, pauses = sum(len(life.tokens) for life in lives), sum(len(life.preempted) for life in lives)
    counts = ", ".join(f"{count} {end}" for end, count in ends.items())
    return f"{len(lives)} requests in {_seconds(lasts)}: {counts}; {tokens} tokens, {pauses} preemptions"


def _sentence(life: Life) -> str:
    parts = ", ".join(f"{PHASES[state][0]} {_seconds(end - begin)}" for state, begin, end in life.segments)
    paused = f", preempted {len(life.preempted)} times" if life.preempted else ""
    return (
        f"{life.name}: {parts or 'no phase'}, {len(life.tokens)} tokens{paused}, end {life.end or 'not yet'}"
    )


def _text(lives: list[Life], start: float) -> str:
    rows = [["request", "phase", "from", "to", "lasts"]]
    for life in lives:
        for state, begin, end in life.segments:
            times = [_seconds(begin - start), _seconds(end - start), _seconds(end - begin)]
            rows.append([life.name, PHASES[state][0], *times])
        if life.last is not None:
            end_word = life.end or "not ended"
            rows.append([life.name, end_word, _seconds(life.last - start), "", f"{len(life.tokens)} tokens"])
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
