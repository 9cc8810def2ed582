"""The pictures of lab 00: gaps and means, as an answer computed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...lifecycle.metrics import _gap, mean
from ...viz import Picture
from ..checking import Subject


def draw_gaps(s: Subject) -> Picture:
    cases = [(2.0, 5.0), (0.0, 4.0), (None, 5.0), (2.0, None)]
    rows = [["start", "end", "gap"], *([start, end, s.call("gap", start, end)] for start, end in cases)]
    return viz.grid(rows, "Gaps", [(row, 2) for row in range(1, len(rows))], "– is a missing value")


def draw_means(s: Subject) -> Picture:
    cases: list[list[float | None]] = [[2.0, 4.0], [None, 2.0, 4.0], [0.0, 4.0], []]
    rows = [["values", "mean", "samples"], *([values, *s.call("mean", values)] for values in cases)]
    return viz.grid(rows, "Means", [(row, 1) for row in range(1, len(rows))], "– is a missing value")


REFERENCE: dict[str, Any] = {"gap": _gap, "mean": mean}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {"q1": draw_gaps, "q2": draw_means}
