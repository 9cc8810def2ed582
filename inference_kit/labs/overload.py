"""A small server under load, in virtual time: what lab 02 measures.

Owns one queue, a few slots and clients with little patience. It runs no model and measures nothing: it
writes the event log of each request in D1's words, and the learner's functions read that. Invariants: the
same arguments give the same logs, and arrivals = rejected + ended + in flight.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..lifecycle import Record, replay, row_of
from ..sampling import check_number

PREPROCESSING_S = 0.05
GAP_S = 0.05
"""Between two tokens of one answer."""
TAIL_S = 0.02
"""From the last token to the end."""
SHORT = (0.25, 12)
LONG = (2.5, 16)
"""(seconds of prefill, tokens of the answer). One request in four is long."""


@dataclass(frozen=True)
class Server:
    """What is fixed while the load changes (D6). Times are seconds."""

    slots: int = 16
    max_waiting: int = 24
    """A request that finds this many waiting is rejected."""
    ttft_limit_s: float = 3.0
    """A client without a first token gives up this long after its arrival."""
    window_s: float = 60.0
    """The measurement ends here; what still runs is cut off."""

    @property
    def capacity_rps(self) -> float:
        """Requests per second that the slots can serve when nobody gives up."""
        service_s = 0.75 * _service_s(SHORT) + 0.25 * _service_s(LONG)
        return self.slots / service_s


@dataclass(frozen=True)
class Traffic:
    """What happened in one window.

    Attributes:
        server: what was fixed.
        rps: the offered load, in requests per second.
        logs: the whole logs of the requests that ended, each a list of (event, seconds).
        cut_off: the logs of those still in flight at the end of the window: they have no end.
        rejected: how many were refused on arrival. They have no log.
    """

    server: Server
    rps: float
    logs: list[list[tuple[str, float]]]
    cut_off: list[list[tuple[str, float]]]
    rejected: int

    @property
    def arrivals(self) -> int:
        return len(self.logs) + len(self.cut_off) + self.rejected


def overload(rps: float, server: Server | None = None, seed: int = 2) -> Traffic:
    """Offer `rps` requests per second to the server for its whole window (open loop: nobody waits to ask).

    Raises InvalidField for a load that is not above 0.
    """
    check_number("rps", rps, 0.0, 1e6, low_open=True)
    server = server or Server()
    rng = random.Random(seed)
    free_at = [0.0] * server.slots
    leaves_queue_at: list[float] = []
    logs: list[list[tuple[str, float]]] = []
    cut_off: list[list[tuple[str, float]]] = []
    rejected = number = 0
    arrive = _pause(rng, rps)
    while arrive < server.window_s:
        number += 1
        waiting = sum(at > arrive for at in leaves_queue_at)
        if waiting >= server.max_waiting:
            rejected += 1
        else:
            log = _life(number, arrive, max(arrive, free_at[0]), server)
            if log[1][0] == "admit":
                heapq.heapreplace(free_at, log[-1][1])
            leaves_queue_at.append(log[1][1])
            seen = [entry for entry in log if entry[1] < server.window_s]
            (logs if seen == log else cut_off).append(seen)
        arrive += _pause(rng, rps)
    return Traffic(server, rps, logs, cut_off, rejected)


def _pause(rng: random.Random, rps: float) -> float:
    """The time to the next arrival: independent clients."""
    return -math.log(1.0 - rng.random()) / rps


def _service_s(kind: tuple[float, int]) -> float:
    prefill_s, tokens = kind
    return PREPROCESSING_S + prefill_s + GAP_S * (tokens - 1) + TAIL_S


def _life(number: int, arrive: float, free: float, server: Server) -> list[tuple[str, float]]:
    """The log of the request that arrives and gets a slot at `free`, if it still waits then."""
    prefill_s, tokens = LONG if number % 4 == 0 else SHORT
    gives_up = arrive + server.ttft_limit_s
    ready = free + PREPROCESSING_S
    log = [("arrive", arrive), ("admit", free), ("input_ready", ready)]
    if number % 211 == 0 and ready < gives_up:
        return [*log, ("fail", ready)]
    first = ready + prefill_s
    if first >= gives_up:
        # A deadline is missed at equality (convention 6).
        return [*(entry for entry in log if entry[1] < gives_up), ("timeout", gives_up)]
    log += [("first_token" if index == 0 else "token", first + GAP_S * index) for index in range(tokens)]
    if number % 23 == 0:
        return [*log[: 3 + tokens // 2], ("cancel", log[2 + tokens // 2][1] + TAIL_S)]
    return [*log, ("complete", log[-1][1] + TAIL_S)]


def rows_of(traffic: Traffic, row: Callable[[Record], Mapping[str, Any]] = row_of) -> list[Record]:
    """One row for each arrival: how it ended and, where there is a log, what `row` makes of its report.

    `reason` is what `goodput` reads: the status, "rejected", or None for a request that was cut off.
    """
    reports = [replay(log) for log in traffic.logs]
    ended = [Record(row(report), status=report.status, reason=report.status) for report in reports]
    nothing = Record(stage=None, ttft=None, tpot=None, e2e=None, streamed_tokens=0)
    refused = Record(nothing, status="rejected", reason="rejected")
    running = Record(nothing, status="in_flight", reason=None)
    return ended + [refused] * traffic.rejected + [running] * len(traffic.cut_off)
