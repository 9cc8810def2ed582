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


def first_expired(deadlines: Deadlines, marks: ClockMarks, now: float) -> tuple[FinishReason, float] | None:
    """The deadline that passed first, with the time it passed at, or None (A11, convention 6).

    Of several the earliest wins; ties go to queue, ttft, inter_token, overall in this order.
    """
    first = min(_armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def next_due(deadlines: Deadlines, marks: ClockMarks) -> float | None:
    """When the next of the deadlines passes if nothing else happens, in seconds; None: never."""
    return min((at for at, _, _ in _armed(deadlines, marks)), default=None)


def _armed(deadlines: Deadlines, marks: ClockMarks) -> list[tuple[float, int, FinishReason]]:
    """(due time, rank for ties, reason) of each clock that runs."""
    armed: list[tuple[float, int, FinishReason]] = []

    def arm(rank: int, reason: FinishReason, start: float | None, limit: float | None) -> None:
        if start is not None and limit is not None:
            armed.append((start + limit, rank, reason))

    if marks.admitted_at is None:
        arm(0, FinishReason.QUEUE_DEADLINE, marks.queued_at, deadlines.queue_s)
    if marks.first_token_at is None:
        arm(1, FinishReason.TTFT_DEADLINE, marks.received_at, deadlines.ttft_s)
    elif not marks.paused:
        arm(2, FinishReason.INTER_TOKEN_DEADLINE, marks.last_token_at, deadlines.inter_token_s)
    arm(3, FinishReason.OVERALL_DEADLINE, marks.received_at, deadlines.overall_s)
    return armed
