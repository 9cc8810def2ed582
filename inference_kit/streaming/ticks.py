"""One stream in ticks: the queue law of backpressure, and the client that reads too slowly (C2, C5).

Owns a model for study and pictures: whole ticks, at most one token in each, the reader first. The engine does
the same with real time, in `channel.py` and in the scheduler. Invariant: 0 <= level <= capacity after a tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Tick = Callable[[int, int, "int | None", bool], tuple[int, int]]
"""`tick`, or one that does the same."""


def tick(level: int, drain: int, capacity: int | None, has_more: bool) -> tuple[int, int]:
    """One tick of the queue law: (consumed, produced). The reader comes first (C2).

    Args:
        level: tokens that wait before the tick.
        drain: tokens that the reader would take.
        capacity: most tokens that may wait; None: no bound.
        has_more: whether there is a token left to make.
    """
    consumed = min(drain, level)
    has_room = capacity is None or level - consumed < capacity
    return consumed, int(has_more and has_room)


def run_client(
    tokens: str, drains: Iterable[int], capacity: int | None, deadline_tick: int, tick: Tick = tick
) -> dict[str, Any]:
    """A whole stream, tick by tick, until the deadline ends it (C5).

    Args:
        tokens: what the model would make, one letter for each token.
        drains: for each tick, how many tokens the reader would take.
        capacity: most tokens that may wait; None: no bound.
        deadline_tick: the request ends before this tick begins.
        tick: the law.

    Returns `generated`, `sent` and `dropped` (made and never sent) as letters, and `paused_ticks`: those in
    which there was a token to make and none was made.
    """
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


def token_counts(log: Sequence[tuple[str, int]]) -> dict[str, int]:
    """The four token counts of a stream, from what happened to it (C4).

    Args:
        log: ("propose" | "commit" | "send", number of tokens) in order.

    Raises ValueError for another word, and for a history in which more was committed than proposed or
    more sent than committed.
    """
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event; allowed: propose, commit, send")
        if not sent <= committed <= proposed:
            raise ValueError(f"impossible: {sent} sent, {committed} committed, {proposed} proposed")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}
