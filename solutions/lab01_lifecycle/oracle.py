"""Brute-force oracles for lab 01, written apart from the kit: regular expressions and searches.

They share no table and no function with `inference_kit.lifecycle`. A test compares them with the
kit on random cases; the hidden checks use the kit.
"""

from __future__ import annotations

import re
from typing import Any

EDGES = [
    "received>tokenize>tokenized",
    "tokenized>enqueue>queued",
    "queued>admit>admitted",
    "admitted>start_prefill>prefill",
    "prefill>start_decode>decode",
    "decode>pause>streaming",
    "streaming>resume>decode",
    "decode>finish>finished",
    "streaming>finish>finished",
    "prefill>preempt>preempted",
    "decode>preempt>preempted",
    "streaming>preempt>preempted",
    "preempted>requeue>queued",
]
LIVE = ["received", "tokenized", "queued", "admitted", "prefill", "decode", "streaming", "preempted"]
EARLY = ["cancel>cancelled", "time_out>timed_out", "fail>failed"]


def all_edges() -> set[tuple[str, ...]]:
    """Every legal (state, event, next state)."""
    early = {(state, *word.split(">")) for state in LIVE for word in EARLY}
    return {tuple(word.split(">")) for word in EDGES} | early


LETTERS = {
    "arrive": "A",
    "admit": "B",
    "input_ready": "C",
    "first_token": "F",
    "token": "T",
    "complete": "X",
    "cancel": "c",
    "timeout": "t",
    "fail": "f",
}
LEGAL = re.compile(r"A(?:B(?:C(?:FT*(?:X|[ctf])|[ctf])|[ctf])|[ctf])")
STATUS = {"X": "completed", "c": "cancelled", "t": "timed_out", "f": "failed"}


def is_legal(events: list[tuple[str, float]]) -> bool:
    """Whether a log can have happened: its word matches one expression, and time never goes back."""
    word = "".join(LETTERS.get(name, "?") for name, _ in events)
    times = [at for _, at in events]
    return LEGAL.fullmatch(word) is not None and times == sorted(times) and all(at >= 0 for at in times)


def report(events: list[tuple[str, float]]) -> dict[str, Any]:
    """The report of a legal log, field by field."""
    names = [name for name, _ in events]
    stages = ["queued", "preprocessing", "prefill", "decode"]
    reached = max(
        index for index, name in enumerate(("arrive", "admit", "input_ready", "first_token")) if name in names
    )
    return {
        "status": STATUS[LETTERS[names[-1]]],
        "stage": stages[reached],
        **{
            name: events[names.index(name)][1] if name in names else None
            for name in ("arrive", "admit", "input_ready", "first_token")
        },
        "token_times": [at for name, at in events if name.endswith("token")],
        "end": events[-1][1],
    }


def settle(state: str, calls: list[tuple[str, float]], events: dict[str, str]) -> tuple[Any, ...]:
    """What a series of ends does to a demo request: (state, reason, time, winners, releases).

    Looks for the first call whose end is legal; all others change nothing.
    """
    ends = {"finish": "finished", "cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    for index, (reason, at) in enumerate(calls):
        if events[reason] != "finish" or state in ("decode", "streaming"):
            return ends[events[reason]], reason, at, [index], 1
    return state, None, None, [], 0
