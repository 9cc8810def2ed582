"""The state diagram: which events move a request from which state to which (A1).

Pure functions from a table to a picture. The edges are exactly those of the table, each as one
element with a `data-edge` attribute. The current state is marked by a thick frame and a sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..lifecycle import TRANSITIONS
from .picture import INK, QUIET, Picture, document, element, table, words

Table = Mapping[str, Mapping[str, str]]

WIDTH, HEIGHT = 940.0, 440.0
BOX_W, BOX_H = 120.0, 40.0

PLACES: dict[str, tuple[float, float]] = {
    "received": (90, 60),
    "tokenized": (315, 60),
    "queued": (540, 60),
    "admitted": (790, 60),
    "prefill": (790, 210),
    "decode": (565, 210),
    "streaming": (340, 210),
    "preempted": (90, 210),
    "finished": (452, 375),
    "cancelled": (612, 375),
    "timed_out": (742, 375),
    "failed": (866, 375),
}
EARLY_ENDS = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
END_W = 104.0
LIVE_FILL, END_FILL, CURRENT_FILL = "#e8f1fa", "#f3f0ea", "#ffe9a8"


def plain_table(table_: Mapping[Any, Mapping[Any, Any]]) -> dict[str, dict[str, str]]:
    """The table with plain strings: enum members become their values."""
    return {
        _name(state): {_name(event): _name(target) for event, target in moves.items()}
        for state, moves in table_.items()
    }


def _name(value: Any) -> str:
    return str(getattr(value, "value", value))


def edges_of(table_: Table) -> Iterator[tuple[str, str, str]]:
    """(state, event, next state), in the order of the table."""
    for state, moves in table_.items():
        for event, target in moves.items():
            yield state, event, target


def state_diagram(
    table_: Mapping[Any, Mapping[Any, Any]] | None = None,
    current: Any = None,
    title: str = "States of a request",
) -> Picture:
    """Draw a transition table; `current` is the state to mark, or None.

    Takes the kit's `TRANSITIONS` when no table is given. States that the kit does not know get a
    place at the left of the lowest row. Raises ValueError for a `current` that is not in the table.
    """
    moves = plain_table(TRANSITIONS if table_ is None else table_)
    here = None if current is None else _name(current)
    states = list(dict.fromkeys([*moves, *(target for _, _, target in edges_of(moves))]))
    if here is not None and here not in states:
        raise ValueError(f"current={here!r} is not a state of the table; known: {', '.join(states)}")
    places = _places(states)
    body = [_marker(), *_early_legend(moves)]
    body += [_edge(edge, places) for edge in edges_of(moves)]
    body += [_box(state, places[state], bool(moves.get(state)), state == here) for state in states]
    alt = f"{title}: {len(states)} states, {sum(1 for _ in edges_of(moves))} moves."
    if here is not None:
        alt += f" The request is in {here}; legal events: {', '.join(moves.get(here, {})) or 'none'}."
    return Picture(document(WIDTH, HEIGHT, alt, "".join(body)), alt, transition_text(moves, here))


def transition_text(moves: Table, here: str | None = None) -> str:
    """The table as text: one line for each state, the current one marked with an arrow."""
    rows = [["", "state", "events and next states"]]
    for state, targets in moves.items():
        steps = ", ".join(f"{event} → {target}" for event, target in targets.items())
        rows.append(["→" if state == here else "", state, steps or "(terminal: nothing is legal)"])
    return table(rows)


def _places(states: list[str]) -> dict[str, tuple[float, float]]:
    places = {state: PLACES[state] for state in states if state in PLACES}
    for index, state in enumerate(state for state in states if state not in PLACES):
        places[state] = (90.0, 300.0 + 52.0 * index)
    return places


def _marker() -> str:
    head = element("path", d="M0 0 L8 4 L0 8 z", fill=INK)
    arrow = element("marker", head, id="head", markerWidth=9, markerHeight=9, refX=7, refY=4, orient="auto")
    return element("defs", arrow)


def _early_legend(moves: Table) -> list[str]:
    if not any(event in EARLY_ENDS for _, event, _ in edges_of(moves)):
        return []
    note = "small words under a box: events that end the request early"
    return [words(note, 740, 425, 12.5, fill=QUIET, font_style="italic")]


def _box(state: str, place: tuple[float, float], live: bool, current: bool) -> str:
    x, y = place
    width = BOX_W if live else END_W
    fill = CURRENT_FILL if current else LIVE_FILL if live else END_FILL
    frame: dict[str, Any] = {
        "x": x - width / 2,
        "y": y - BOX_H / 2,
        "width": width,
        "height": BOX_H,
        "fill": fill,
    }
    parts = [element("rect", rx=12 if live else 2, stroke=INK, stroke_width=4 if current else 1.5, **frame)]
    if not live:
        # A second frame marks an end: a shape, not only a colour.
        parts.append(
            element(
                "rect",
                x=x - width / 2 + 4,
                y=y - BOX_H / 2 + 4,
                width=width - 8,
                height=BOX_H - 8,
                rx=1,
                fill="none",
                stroke=INK,
                stroke_width=1,
            )
        )
    label = f"▶ {state}" if current else state
    parts.append(words(label, x, y + 5, 15 if live else 13, font_weight="bold" if current else "normal"))
    return element("g", "".join(parts), data_state=state, data_current="true" if current else "false")


def _edge(edge: tuple[str, str, str], places: dict[str, tuple[float, float]]) -> str:
    state, event, target = edge
    name = f"{state}|{event}|{target}"
    if EARLY_ENDS.get(event) == target:
        return element("g", _chip(event, places[state]), data_edge=name)
    path, (label_x, label_y) = _route(state, target, places)
    line = element("path", d=path, fill="none", stroke=INK, stroke_width=1.5, marker_end="url(#head)")
    halo = words(event, label_x, label_y, 13, fill="#ffffff", stroke="#ffffff", stroke_width=4)
    return element("g", line + halo + words(event, label_x, label_y, 13), data_edge=name)


def _chip(event: str, place: tuple[float, float]) -> str:
    offsets = {"cancel": -46.0, "time_out": 5.0, "fail": 51.0}
    return words(event, place[0] + offsets[event], place[1] + BOX_H / 2 + 14, 12, fill=QUIET)


def _route(
    state: str, target: str, places: dict[str, tuple[float, float]]
) -> tuple[str, tuple[float, float]]:
    """Path data and the place of the label, for one arrow."""
    (x1, y1), (x2, y2) = places[state], places[target]
    if (state, target) in _ROUTES:
        return _ROUTES[(state, target)]
    if state == target:
        return f"M{x1 - 20} {y1 - 20} C{x1 - 40} {y1 - 55} {x1 + 40} {y1 - 55} {x1 + 20} {y1 - 22}", (
            x1,
            y1 - 42,
        )
    if y1 == y2 and abs(x1 - x2) < 260:
        side = 1 if x2 > x1 else -1
        return f"M{x1 + side * 60} {y1} L{x2 - side * 62} {y2}", ((x1 + x2) / 2, y1 - 7)
    start_y, end_y = (y1 + 20, y2 - 22) if y2 > y1 else (y1 - 20, y2 + 22)
    return f"M{x1} {start_y} L{x2} {end_y}", ((x1 + x2) / 2 + 8, (y1 + y2) / 2)


_ROUTES: dict[tuple[str, str], tuple[str, tuple[float, float]]] = {
    ("admitted", "prefill"): ("M790 96 L790 188", (790, 145)),
    ("decode", "streaming"): ("M505 203 L402 203", (453, 197)),
    ("streaming", "decode"): ("M400 219 L503 219", (453, 233)),
    ("streaming", "preempted"): ("M280 210 L152 210", (215, 203)),
    ("decode", "preempted"): ("M520 190 C460 150 190 150 118 188", (325, 157)),
    ("prefill", "preempted"): ("M830 246 C800 320 160 320 90 248", (215, 292)),
    ("preempted", "queued"): ("M70 190 C90 120 380 150 505 98", (262, 127)),
    ("decode", "finished"): ("M565 248 L478 353", (540, 345)),
    ("streaming", "finished"): ("M340 248 L428 353", (372, 345)),
}
"""Arrows that need a way of their own; all others are straight."""
