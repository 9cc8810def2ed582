"""Visible checks of lab00: `make labs` copies them from solutions/lab00_orientation. Do not edit."""

from __future__ import annotations

import random

from inference_kit.labs.checking import CheckSet, Subject, expect

CHECKS = CheckSet("lab00")


@CHECKS.check(
    "q1",
    1,
    misconception="a gap is end minus start, in seconds, and not rounded",
    rows=("gap(2.0, 5.0)", "gap(1.5, 1.75)"),
)
def gap_of_two_times(s: Subject, rng: random.Random) -> None:
    for start, end, expected in ((2.0, 5.0, 3.0), (1.5, 1.75, 0.25)):
        expect(s.call("gap", start, end), expected, given=f"gap({start}, {end})")


@CHECKS.check(
    "q1",
    1,
    misconception="when a time is missing, the gap is missing too: None",
    rows=("gap(None, 5.0), gap(2.0, None)",),
)
def missing_time_gives_none(s: Subject, rng: random.Random) -> None:
    for start, end in ((None, 5.0), (2.0, None), (None, None)):
        expect(s.call("gap", start, end), None, given=f"gap({start}, {end})")


@CHECKS.check(
    "q2",
    1,
    misconception="the result is a pair: the mean, and how many values it is made of",
    rows=("mean([1.0, 2.0])",),
)
def mean_and_count(s: Subject, rng: random.Random) -> None:
    for values, expected in (([2.0, 4.0], (3.0, 2)), ([1.0, 2.0], (1.5, 2)), ([7.0], (7.0, 1))):
        expect(s.call("mean", values), expected, given=f"mean({values})")


@CHECKS.check(
    "q2",
    1,
    misconception="a missing value is left out of the sum and of the count",
    rows=("mean([None, 2.0, None, 4.0])",),
)
def missing_values_left_out(s: Subject, rng: random.Random) -> None:
    for values, expected in (([None, 2.0, None, 4.0], (3.0, 2)), ([6.0, None], (6.0, 1))):
        expect(s.call("mean", values), expected, given=f"mean({values})")


@CHECKS.check(
    "q2",
    1,
    misconception="nothing to average is not an error and not 0: the answer is (None, 0)",
    rows=("mean([]), mean([None])",),
)
def nothing_to_average(s: Subject, rng: random.Random) -> None:
    for values in ([], [None], [None, None]):
        expect(s.call("mean", values), (None, 0), given=f"mean({values})")
