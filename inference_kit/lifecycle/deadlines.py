"""The four deadlines of a request and the decision which of them has passed (A11).

Pure: times in, decision out. The engine asks at every step boundary and ends the request itself.
Convention 6: a deadline is missed at equality and reported at start + limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Deadlines
from .states import FinishReason


@dataclass(frozen=True)
class ClockMarks:
    """The times that the four clocks start from, in seconds; None: has not happened."""

    received_at: float
    queued_at: float | None = None
    admitted_at: float | None = None
    first_token_at: float | None = None
    last_token_at: float | None = None
    """Start of the inter-token clock: the last token, moved on by the waits for stream credit since."""
    paused: bool = False
    """True while the request waits for stream credit: the inter-token clock is suspended."""


CLOCKS = {
    "queue_s": FinishReason.QUEUE_DEADLINE,
    "ttft_s": FinishReason.TTFT_DEADLINE,
    "inter_token_s": FinishReason.INTER_TOKEN_DEADLINE,
    "overall_s": FinishReason.OVERALL_DEADLINE,
}
"""The limit of each clock, and the reason of the end that it brings; in the order of ties."""


def armed(deadlines: Deadlines, marks: ClockMarks) -> list[tuple[float, FinishReason]]:
    """(due time, reason) of each clock that runs, in the order of ties (A11, convention 6).

    The queue clock runs until the first admission, the TTFT clock until the first token, the inter-token
    clock after it and not while the reader is slow, the overall clock always.
    """
    starts: dict[str, float | None] = {}
    if marks.admitted_at is None:
        starts["queue_s"] = marks.queued_at
    if marks.first_token_at is None:
        starts["ttft_s"] = marks.received_at
    elif not marks.paused:
        starts["inter_token_s"] = marks.last_token_at
    starts["overall_s"] = marks.received_at
    clocks = []
    for name, start in starts.items():
        limit = getattr(deadlines, name)
        if start is not None and limit is not None:
            clocks.append((start + limit, CLOCKS[name]))
    return clocks


def first_expired(deadlines: Deadlines, marks: ClockMarks, now: float) -> tuple[FinishReason, float] | None:
    """The deadline that passed first, with the time it passed at, or None (A11, convention 6).

    Of several the earliest wins; ties go to queue, ttft, inter_token, overall in this order.
    """
    first = min(armed(deadlines, marks), key=lambda clock: clock[0], default=None)
    if first is None or now < first[0]:
        return None
    return first[1], first[0]


def next_due(deadlines: Deadlines, marks: ClockMarks) -> float | None:
    """When the next of the deadlines passes if nothing else happens, in seconds; None: never."""
    return min((at for at, _ in armed(deadlines, marks)), default=None)


def moved_on(started_at: float, paused_at: float, resumed_at: float) -> float:
    """Start of the inter-token clock after a wait for stream credit, in seconds (convention 6).

    The wait does not count, so the start moves on by it. A token that came during the wait has set the
    clock anew: then only the rest of the wait is left out.
    """
    return started_at + (resumed_at - max(paused_at, started_at))
