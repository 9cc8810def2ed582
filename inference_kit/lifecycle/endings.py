"""Which signal ends a request when several arrive, and what is done with the others (A10, C1).

Pure: signals in, decision out. It ends nothing itself; `Request.finalize` does. Invariant: the answer
depends on the signals and not on the order in which somebody collected them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

ORDER = {"expire": 0, "finish": 1, "cancel": 2, "arrive": 3, "step": 4}
"""What comes first at the same instant (convention 16)."""
ENDS = ("expire", "finish", "cancel")

Signal = tuple[float, str]
"""Time in seconds, and a word of `ORDER`."""
Reason = TypeVar("Reason", bound=str)


def in_order(signals: Iterable[Signal]) -> list[Signal]:
    """Signals by time, at the same instant by `ORDER`, else as they came.

    Raises ValueError for another word, before anything else is looked at.
    """
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(f"{kind!r} is not a signal; allowed: {', '.join(ORDER)}")
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals: Iterable[Signal]) -> tuple[Signal | None, list[Signal]]:
    """(the signal that ends the request, those that came too late). The first end wins."""
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


def which_end(
    due: tuple[Reason, float] | None,
    failed: bool,
    cancelled: tuple[Reason, float] | None,
    now: float,
    error: Reason,
) -> tuple[Reason, float] | None:
    """What a step boundary does with one request: (reason, time) of its end, or None (A8, convention 7).

    Args:
        due: the limit that has passed, and when.
        failed: whether a part of the request has raised.
        cancelled: the reason of a cancel that was asked for since the last boundary, and when.
        now: the time of this boundary.
        error: the reason of a failure.

    The earliest cause wins; at the same instant a limit goes before a cancel. A failure is noticed now;
    it wins over a cancel, for the caller must hear of it.
    """
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed:
        return error, now
    return cancelled
