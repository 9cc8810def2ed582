"""The pictures of lab 04: clocks, decisions, races, owners and orphans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...lifecycle import (
    ClockMarks,
    Deadlines,
    find_orphans,
    first_expired,
    in_order,
    leave,
    reconcile,
    release_order,
    settle,
    which_end,
)
from ...viz import Picture
from ..checking import Subject

LIMITS = {"queue_s": 3.0, "ttft_s": 4.0, "inter_token_s": 2.0, "overall_s": 12.0}
MARKS = {
    "received_at": 1.0,
    "queued_at": 2.0,
    "admitted_at": 3.0,
    "first_token_at": 4.0,
    "last_token_at": 6.0,
    "paused": False,
}
SIGNALS = [(5.0, "cancel"), (6.0, "step"), (5.0, "expire"), (4.0, "arrive"), (5.0, "finish")]
NEEDS = {"kv": ["trace"], "stream 1": ["kv", "trace"], "stream 2": ["kv"]}
OWNERS = {"trace": ["r1", "r2"], "kv": ["r1"], "stream 1": ["r1"], "stream 2": ["r2"]}
RECORDED = {"r1": ["a", "b"], "r2": ["c"], "r3": ["b", "d"]}
IN_USE = ["a", "b", "c", "x"]


def draw_clocks(s: Subject) -> Picture:
    end = s.call("expired", LIMITS, MARKS, 9.0)
    return viz.deadline_clocks(LIMITS, MARKS, 9.0, expired=None if end is None else tuple(end))


def draw_decisions(s: Subject) -> Picture:
    rows: list[list[Any]] = [["limit at", "cancel at", "failed", "ends with", "dated"]]
    for due, failed, cancel in (
        (None, False, None), (5.0, False, None), (None, False, 7.0), (5.0, False, 3.0), (5.0, False, 5.0),
        (5.0, False, 7.0), (5.0, True, None), (None, True, 3.0),
    ):  # fmt: skip
        limit = None if due is None else ("overall_deadline", due)
        asked = None if cancel is None else ("client_cancel", cancel)
        end = s.call("which_end", limit, failed, asked, 9.0, "error")
        reason, at = (None, None) if end is None else end
        rows.append([due, cancel, failed, reason, at])
    return viz.grid(rows, "The boundary at 9 s", [(row, 3) for row in range(2, len(rows))], "– means none")


def draw_race(s: Subject) -> Picture:
    winner, late = s.call("settle", SIGNALS)
    rows: list[list[Any]] = [["time", "signal", "what it does"]]
    for time, kind in s.call("in_order", SIGNALS):
        word = "ends the request" if (time, kind) == tuple(winner or ()) else "–"
        late_ones = [tuple(one) for one in late]
        rows.append([f"{time:g} s", kind, "too late, does nothing" if (time, kind) in late_ones else word])
    marked = [(row, 2) for row in range(1, len(rows)) if rows[row][2] == "ends the request"]
    return viz.grid(rows, "One race", marked)


def draw_owners(s: Subject) -> Picture:
    rows: list[list[Any]] = [["who leaves", "freed, in order", "still owned"]]
    owners: Any = OWNERS
    for owner in ("r1", "r2", "r1"):
        freed, owners = s.call("leave", owner, owners, NEEDS)
        kept = ", ".join(f"{name}: {' '.join(who) or '–'}" for name, who in owners.items())
        rows.append([owner, " → ".join(freed) or "–", kept or "–"])
    return viz.grid(rows, "Two requests leave", [(1, 1), (2, 1)], "both streams need kv, kv needs trace")


def draw_restart(s: Subject) -> Picture:
    back, lost = s.call("reconcile", RECORDED, IN_USE)
    rows: list[list[Any]] = [["by the log", "resources", "in use", "after the restart"]]
    for request, wanted in RECORDED.items():
        here = " ".join(one for one in wanted if one in IN_USE)
        rows.append([request, " ".join(wanted), here, "fails" if request in lost else "goes on"])
    unknown = [one for one in IN_USE if not any(one in wanted for wanted in RECORDED.values())]
    rows.append(["nobody", "–", " ".join(unknown), "–"])
    return viz.grid(rows, "A restart", [(3, 3)], f"given back: {' '.join(back) or 'nothing'}")


def _expired(limits: dict[str, Any], marks: dict[str, Any], now: float) -> Any:
    return first_expired(Deadlines(**limits), ClockMarks(**marks), now)


REFERENCE: dict[str, Any] = {
    "expired": _expired,
    "which_end": which_end,
    "in_order": in_order,
    "settle": settle,
    "release_order": release_order,
    "leave": leave,
    "find_orphans": find_orphans,
    "reconcile": reconcile,
}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_clocks,
    "q2": draw_decisions,
    "q3": draw_race,
    "q4": draw_owners,
    "q5": draw_restart,
}
