"""The pictures of lab 01: tables, logs, ends and releases, as an answer made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...lifecycle import TRANSITIONS, Event, Request, State, next_state, report_of, settle_once, walk
from ...viz import Picture
from ...viz.states import plain_table
from ..checking import Callback, Subject

EXAMPLE = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]


def _kit_request(state: str, on_release: Callable[[], None]) -> Request:
    """A kit request that stands in `state` (decode) and holds one thing."""
    request = Request("demo")
    for event in (Event.TOKENIZE, Event.ENQUEUE, Event.ADMIT, Event.START_PREFILL, Event.START_DECODE):
        if request.state != State(state):
            request.move(event, 0.0)
    request.hold("everything", on_release)
    return request


def draw_table(s: Subject) -> Picture:
    return viz.state_diagram(s.call("make_transitions"), title="Your transition table")


def draw_moves(s: Subject) -> Picture:
    """Every state against every event: the next state, or a dot where the event is refused."""
    table = plain_table(TRANSITIONS)
    events = list(dict.fromkeys(event for moves in table.values() for event in moves))
    rows: list[list[str]] = [["", *events]]
    marked = []
    for state in table:
        row = [state]
        for event in events:
            try:
                row.append(s.call("next_state", state, event, table))
            except Exception:
                row.append("·")
            else:
                marked.append((len(rows), len(row) - 1))
        rows.append(row)
    return viz.grid(rows, "Next states", marked, "· the event is refused in this state")


def draw_steps(s: Subject) -> Picture:
    rows = [["event", "time", "before", "after"]]
    rows += [[event, f"{at:g} s", before, after] for event, at, before, after in s.call("walk", EXAMPLE)]
    return viz.grid(rows, "Steps of a log", [(row, 0) for row in range(1, len(rows))])


def draw_report(s: Subject) -> Picture:
    """The timeline that the report alone can give: boundaries, tokens and the end."""
    report = s.call("report_of", walk(EXAMPLE))
    events = [(name, report[name]) for name in ("arrive", "admit", "input_ready") if report[name] is not None]
    names = ["first_token"] + ["token"] * (len(report["token_times"]) - 1)
    events += list(zip(names, report["token_times"], strict=False))
    ends = {"completed": "complete", "cancelled": "cancel", "timed_out": "timeout", "failed": "fail"}
    events.append((ends[report["status"]], report["end"]))
    return viz.timeline(events, "Timeline from the report")


def draw_end(s: Subject) -> Picture:
    """Three signals, one end."""
    released: list[int] = []
    request = s.new("DemoRequest", "decode", Callback(lambda: released.append(1)))
    rows: list[list[Any]] = [["signal", "at", "returned", "state after", "reason", "releases"]]
    marked = []
    for reason, at in (("stop_eos", 5.0), ("client_cancel", 5.5), ("overall_deadline", 6.0)):
        won = s.call("settle_once", request, reason, at)
        state, kept = s.attr(request, "state"), s.attr(request, "finish_reason")
        if won is True:
            marked.append((len(rows), 2))
        rows.append([reason, f"{at:g} s", won, state, kept, len(released)])
    return viz.grid(rows, "Three signals, one end", marked, "the framed call ended the request")


def draw_release(s: Subject) -> Picture:
    taken = ["registry", "stream", "slot", "kv blocks"]
    given_back: list[str] = []
    holdings = s.new("Holdings")
    for name in taken:
        s.method(holdings, "hold", name, Callback(lambda name=name: given_back.append(name)))
    s.method(holdings, "release")
    return viz.release_order(taken, given_back)


REFERENCE: dict[str, Any] = {
    "make_transitions": lambda: TRANSITIONS,
    "next_state": next_state,
    "walk": walk,
    "report_of": report_of,
    "DemoRequest": _kit_request,
    "settle_once": settle_once,
    "Holdings": lambda: Request("demo"),
}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_table,
    "q2": draw_moves,
    "q3": draw_steps,
    "q4": draw_report,
    "q5": draw_end,
    "q6": draw_release,
}
