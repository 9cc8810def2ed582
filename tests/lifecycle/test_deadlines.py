"""Four clocks, decided at one place (A11, convention 6)."""

from __future__ import annotations

import math

import pytest

from inference_kit import Deadlines
from inference_kit.errors import InvalidField, UnknownOption
from inference_kit.lifecycle import ClockMarks, first_expired

DECODING = ClockMarks(received_at=0.0, queued_at=0.1, admitted_at=0.5, first_token_at=1.0, last_token_at=2.0)
ALL = Deadlines(queue_s=1.0, ttft_s=1.0, inter_token_s=1.0, overall_s=1.0)


@pytest.mark.parametrize("name", ["queue_s", "ttft_s", "inter_token_s", "overall_s"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf, True, "5", 1e300])
def test_a_limit_is_a_finite_positive_number_of_at_most_an_hour(name: str, value: object) -> None:
    # Case T06.
    with pytest.raises(InvalidField, match=name):
        Deadlines(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, 0.001, 1, 3600])
def test_these_limits_are_accepted(value: float | None) -> None:
    assert Deadlines(overall_s=value).overall_s == value


def test_an_unknown_limit_is_named() -> None:
    with pytest.raises(UnknownOption, match="queue_ms"):
        Deadlines.make({"queue_ms": 5})


@pytest.mark.parametrize(
    ("marks", "now", "expected"),
    [
        (ClockMarks(0.0, queued_at=0.2), 1.0, ("ttft_deadline", 1.0)),
        (DECODING, 2.5, ("overall_deadline", 1.0)),
        (ClockMarks(0.0), 0.999, None),
        (ClockMarks(0.0, queued_at=0.0), 1.0, ("queue_deadline", 1.0)),
    ],
)
def test_the_earliest_wins_and_ties_go_by_rank(
    marks: ClockMarks, now: float, expected: tuple[str, float] | None
) -> None:
    assert first_expired(ALL, marks, now) == expected


def test_the_inter_token_clock_is_suspended_while_the_reader_is_slow() -> None:
    limit = Deadlines(inter_token_s=1.0)
    paused = ClockMarks(0.0, first_token_at=1.0, last_token_at=2.0, paused=True)
    assert first_expired(limit, paused, 9.0) is None
    assert first_expired(limit, DECODING, 3.0) == ("inter_token_deadline", 3.0)


def test_the_queue_clock_is_disarmed_by_the_first_admission() -> None:
    assert first_expired(Deadlines(queue_s=0.1), DECODING, 100.0) is None
