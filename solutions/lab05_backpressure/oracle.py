"""Brute-force oracles for lab 05, written apart from the kit: lists of tokens instead of counters.

They share no function with `inference_kit.streaming` or the scheduler. A test compares them with the kit on
random cases; the hidden checks use the kit.
"""

from __future__ import annotations

from typing import Any


def one_tick(level: int, drain: int, capacity: int | None, has_more: bool) -> tuple[int, int]:
    """Moves tokens one by one in a list."""
    queue = ["t"] * level
    taken = [queue.pop(0) for _ in range(drain) if queue]
    places = [True] if capacity is None else [True] * (capacity - len(queue))
    return len(taken), 1 if has_more and places else 0


def client(tokens: str, drains: list[int], capacity: int | None, deadline: int) -> dict[str, Any]:
    """The state of every token, tick by tick: to come, waiting, or sent."""
    state = ["to come"] * len(tokens)
    paused = []
    for now in range(min(deadline, len(drains))):
        for _ in range(drains[now]):
            if "waiting" in state:
                state[state.index("waiting")] = "sent"
        if "to come" in state:
            if capacity is None or state.count("waiting") < capacity:
                state[state.index("to come")] = "waiting"
            else:
                paused.append(now)

    def letters(*words: str) -> str:
        return "".join(letter for letter, word in zip(tokens, state, strict=True) if word in words)

    return {
        "generated": letters("waiting", "sent"),
        "sent": letters("sent"),
        "dropped": letters("waiting"),
        "paused_ticks": paused,
    }


def served(rows: list[tuple[str, bool, int, int]], budget: int) -> list[str]:
    """Those with fewer than `budget` better ones, a better one being served earlier or, in a tie, older."""
    ready = [row for row in rows if not row[1]]

    def better(row: tuple[str, bool, int, int]) -> int:
        return sum((other[2], other[3]) < (row[2], row[3]) for other in ready)

    return [row[0] for row in sorted(ready, key=better) if better(row) < budget]


def counts(log: list[tuple[str, int]]) -> dict[str, int] | None:
    """The counts by sums over the whole log; None when some beginning of the log is impossible."""

    def total(word: str, end: int) -> int:
        return sum(count for event, count in log[:end] if event == word)

    for end in range(len(log) + 1):
        if not total("send", end) <= total("commit", end) <= total("propose", end):
            return None
    proposed, committed, sent = (total(word, len(log)) for word in ("propose", "commit", "send"))
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}
