"""Oracles for lab 00, written apart from the kit, with exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def gap(start: float | None, end: float | None) -> float | None:
    """end − start in exact arithmetic; None when one of them is missing."""
    if None in (start, end):
        return None
    return float(Fraction(end) - Fraction(start))  # type: ignore[arg-type]


def mean(values: Sequence[float | None]) -> tuple[float | None, int]:
    """Mean and count of the known values, summed exactly."""
    known = sorted(Fraction(value) for value in values if value is not None)
    return (float(sum(known) / len(known)), len(known)) if known else (None, 0)
