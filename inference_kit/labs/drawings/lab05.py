"""The pictures of lab 05: ticks, slow clients, marks, channels, fair choices and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...scheduler.decodes import longest_unserved
from ...streaming import PlainChannel, run_client, tick, token_counts, watch
from ...viz import Picture
from ..checking import Callback, Subject

TICKS = (
    (0, 1, 3, True),
    (2, 5, 3, True),
    (2, 0, 3, True),
    (3, 0, 3, True),
    (3, 1, 3, True),
    (1000, 0, None, True),
)
DRAINS = [1, 0, 0, 0, 1, 0, 1, 0, 0]
UNSENT = (1, 2, 3, 3, 2, 1, 2, 3, 3, 3, 3, 3)
ROWS = [
    ("a", False, 7, 0),
    ("slow", True, 1, 1),
    ("c", False, 3, 2),
    ("d", False, 3, 3),
    ("e", False, 6, 4),
]
LOG = [("propose", 4), ("commit", 3), ("send", 1), ("propose", 1), ("commit", 1), ("send", 2)]


def draw_ticks(s: Subject) -> Picture:
    rows: list[list[Any]] = [["waits", "drain", "capacity", "more to make", "taken", "made"]]
    for arguments in TICKS:
        taken, made = s.call("tick", *arguments)
        level, drain, capacity, more = arguments
        rows.append([level, drain, "no bound" if capacity is None else capacity, more, taken, made])
    return viz.grid(rows, "The queue law", [(row, 5) for row in range(1, len(rows))])


def draw_clients(s: Subject) -> Picture:
    rows: list[list[Any]] = [["capacity", "generated", "sent", "dropped", "paused in ticks"]]
    for capacity in (None, 3):
        got = s.call("run_client", "ABCDEFG", DRAINS, capacity, 8, Callback(tick))
        paused = " ".join(map(str, got["paused_ticks"])) or "–"
        name = "no bound" if capacity is None else capacity
        rows.append([name, got["generated"], got["sent"], got["dropped"], paused])
    return viz.grid(rows, "One slow client", [(1, 3), (2, 3)], "dropped: made for nobody")


def draw_watch(s: Subject) -> Picture:
    rows: list[list[Any]] = [["time", "unsent", "paused since", "ended"]]
    since, marked = None, []
    for now, unsent in enumerate(UNSENT):
        since, ended = s.call("watch", unsent, since, float(now), 3, 1, 4.0)
        if since is not None:
            marked.append((len(rows), 2))
        rows.append([f"{now} s", unsent, None if since is None else f"{since:g} s", ended])
        if ended:
            break
    return viz.grid(rows, "High 3, low 1, limit 4 s", marked, "a framed time: the stream is paused")


def draw_channel(s: Subject) -> Picture:
    channel = s.new("Channel", 3, 1)
    rows: list[list[Any]] = [["move", "returned", "unsent", "sent", "paused"]]
    marked = []

    def note(move: str, returned: Any) -> None:
        counts = [s.attr(channel, name) for name in ("unsent", "sent", "paused")]
        if counts[2]:
            marked.append((len(rows), 4))
        rows.append([move, "–" if returned is None else returned, *counts])

    for text, token_id in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        note(f"put {text!r}", s.method(channel, "put", text, [token_id]))
    note("take(1)", s.method(channel, "take", 1))
    note("take(2)", s.method(channel, "take", 2))
    note("close('length')", s.method(channel, "close", "length"))
    note("take(9)", s.method(channel, "take", 9))
    return viz.grid(rows, "A channel with the marks 3 and 1", marked)


def draw_choice(s: Subject) -> Picture:
    served = s.call("longest_unserved", ROWS, 2)
    rows: list[list[Any]] = [["stream", "reader", "last served in step", "arrival", "served now"]]
    for name, paused, step, arrival in ROWS:
        rows.append(
            [name, "no credit" if paused else "reads", step, arrival, "yes" if name in served else "–"]
        )
    marked = [(row, 4) for row in range(1, len(rows)) if rows[row][4] == "yes"]
    return viz.grid(rows, "Five streams, two places", marked)


def draw_counts(s: Subject) -> Picture:
    rows: list[list[Any]] = [["event", "tokens", "proposed", "committed", "unsent", "sent"]]
    for end, (event, count) in enumerate(LOG, 1):
        got = s.call("token_counts", LOG[:end])
        rows.append([event, count, *(got[name] for name in ("proposed", "committed", "unsent", "sent"))])
    return viz.grid(rows, "Four counts", [(len(rows) - 1, column) for column in (2, 3, 4, 5)])


REFERENCE: dict[str, Any] = {
    "tick": tick,
    "run_client": run_client,
    "watch": watch,
    "Channel": PlainChannel,
    "longest_unserved": longest_unserved,
    "token_counts": token_counts,
}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_ticks,
    "q2": draw_clients,
    "q3": draw_watch,
    "q4": draw_channel,
    "q5": draw_choice,
    "q6": draw_counts,
}
