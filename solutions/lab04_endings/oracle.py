"""Brute-force oracles for lab 04, written apart from the kit: time runs in small ticks, and all orders are tried.

They share no function with `inference_kit.lifecycle`. A test compares them with the kit on random cases; the
hidden checks use the kit.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

TICK = 0.25


def expired(limits: dict[str, Any], marks: dict[str, Any], now: float) -> tuple[str, float] | None:
    """Lets time run from 0 in ticks; the first clock that reaches its limit. Times are multiples of TICK."""
    has_token = marks["first_token_at"] is not None
    clocks = [
        ("queue", marks["queued_at"], marks["admitted_at"] is None),
        ("ttft", marks["received_at"], not has_token),
        ("inter_token", marks["last_token_at"], has_token and not marks["paused"]),
        ("overall", marks["received_at"], True),
    ]
    for tick in range(int(now / TICK) + 1):
        for name, start, runs in clocks:
            limit = limits[f"{name}_s"]
            if runs and start is not None and limit is not None and tick * TICK - start == limit:
                return f"{name}_deadline", tick * TICK
    return None


def moved_on(started_at: float, paused_at: float, resumed_at: float) -> float:
    """Lets the clock run tick by tick up to the end of the wait; it counts no tick inside the wait."""
    ticks = range(int(started_at / TICK), int(resumed_at / TICK))
    counted = [tick for tick in ticks if tick * TICK < paused_at]
    return resumed_at - len(counted) * TICK


def winner(signals: list[tuple[float, str]]) -> tuple[float, str] | None:
    """The end that no other end comes before."""
    rank = ["expire", "finish", "cancel"]
    ends = [signal for signal in signals if signal[1] in rank]
    for mine in ends:
        if all(
            mine[0] < other[0] or (mine[0] == other[0] and rank.index(mine[1]) <= rank.index(other[1]))
            for other in ends
        ):
            return mine
    return None


def valid_orders(depends: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """Every order in which nothing goes before what needs it."""
    return [
        order
        for order in permutations(depends)
        if all(order.index(name) < order.index(other) for name in depends for other in depends[name])
    ]


def free_after(owner: str, owners: dict[str, list[str]], depends: dict[str, list[str]]) -> set[str]:
    """What nobody else can reach: from the resources that others own, along the needs."""
    reached = [name for name, who in owners.items() if set(who) - {owner}]
    for name in reached:
        reached += [other for other in depends.get(name, []) if other in owners and other not in reached]
    return set(owners) - set(reached)


def orphans(held: dict[str, str], heard_at: dict[str, float], now: float, lease_s: float) -> list[str]:
    """Those whose holder is not in the list of the living."""
    living = [name for name in heard_at if heard_at[name] > now - lease_s]
    return [resource for resource in held if living.count(held[resource]) == 0]


def restart(recorded: dict[str, list[str]], held: list[str]) -> tuple[list[str], list[str]]:
    """Takes the failing requests out one by one, and then looks at each resource."""
    books = dict(recorded)
    failing = [name for name in recorded if [one for one in recorded[name] if one not in held]]
    for name in failing:
        del books[name]
    owned = [one for wanted in books.values() for one in wanted]
    return [one for one in held if one not in owned], failing
