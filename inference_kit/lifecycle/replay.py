"""Replay of one request's event log: is the history legal, and where did the time go (D1)?

Owns the exercise's own small table, which is coarser than the engine's. It computes no
metrics: `metrics.py` does. Invariant: the whole log is checked before a report exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .record import Record

TRACE_TRANSITIONS: dict[str, dict[str, str]] = {
    "not_arrived": {"arrive": "queued"},
    "queued": {"admit": "preprocessing", "cancel": "cancelled", "timeout": "timed_out", "fail": "failed"},
    "preprocessing": {
        "input_ready": "prefill",
        "cancel": "cancelled",
        "timeout": "timed_out",
        "fail": "failed",
    },
    "prefill": {"first_token": "decode", "cancel": "cancelled", "timeout": "timed_out", "fail": "failed"},
    "decode": {
        "token": "decode",
        "complete": "completed",
        "cancel": "cancelled",
        "timeout": "timed_out",
        "fail": "failed",
    },
    "completed": {},
    "cancelled": {},
    "timed_out": {},
    "failed": {},
}
"""D1's table: `TRACE_TRANSITIONS[state][event]` is the next state."""


class IllegalHistory(ValueError):
    """A log that no request can have produced. The message names the position and the rule."""


def read_event(item: Any, index: int) -> tuple[str, float]:
    """One log entry as (event, time in seconds).

    Accepts an (event, time) pair or a mapping with `event` and `timestamp`. Raises `IllegalHistory`
    when a part is missing or the time is not a finite number >= 0.
    """
    if isinstance(item, Mapping):
        missing = [key for key in ("event", "timestamp") if key not in item]
        if missing:
            raise IllegalHistory(f"entry {index} has no {missing[0]!r}: {dict(item)!r}")
        event, at = item["event"], item["timestamp"]
    elif isinstance(item, (list, tuple)) and len(item) == 2:
        event, at = item
    else:
        raise IllegalHistory(f"entry {index} is neither an (event, time) pair nor a mapping: {item!r}")
    number = isinstance(at, (int, float)) and not isinstance(at, bool)
    if not number or not 0 <= at < 1e300:
        raise IllegalHistory(f"entry {index}: time {at!r} is not a finite number >= 0")
    return str(event), float(at)


def walk(events: Iterable[Any]) -> list[tuple[str, float, str, str]]:
    """Check a whole log against D1's table and return its steps (convention 16).

    Each step is (event, time in seconds, state before, state after). Raises `IllegalHistory`, a
    ValueError, for an empty or unended log, an unknown or illegal event, a time that goes back, or
    anything after the end.
    """
    state = "not_arrived"
    steps: list[tuple[str, float, str, str]] = []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state]:
            legal = ", ".join(TRACE_TRANSITIONS[state]) or "nothing: the request has ended"
            raise IllegalHistory(f"entry {index}: {event!r} is not legal in {state!r}; legal: {legal}")
        if steps and at < steps[-1][1]:
            raise IllegalHistory(f"entry {index}: time goes back from {steps[-1][1]!r} to {at!r}")
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state = after
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory(f"the log is empty or unended: it stops in {state!r}")
    return steps


def report_of(steps: Sequence[tuple[str, float, str, str]]) -> Record:
    """The boundaries of a checked history (D2). Times are seconds; None: the boundary is missing.

    `status` is the terminal state, `stage` the state in which the end came, `token_times` the times
    of all tokens, the first one included.
    """
    first_at: dict[str, float] = {}
    token_times: list[float] = []
    for event, at, _, _ in steps:
        first_at.setdefault(event, at)
        if event in ("first_token", "token"):
            token_times.append(at)
    _, end, stage, status = steps[-1]
    return Record(
        status=status,
        stage=stage,
        arrive=first_at["arrive"],
        admit=first_at.get("admit"),
        input_ready=first_at.get("input_ready"),
        first_token=first_at.get("first_token"),
        token_times=token_times,
        end=end,
    )


def replay(events: Iterable[Any]) -> Record:
    """Check a log and report its boundaries: `report_of(walk(events))` (D1, D2)."""
    return report_of(walk(events))
