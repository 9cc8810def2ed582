"""The outputs of a verdict: nbgrader's own scoring must give exactly the judged points."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade

from grader.verdict import HIDDEN_TEXT, PROVISIONAL, Verdict, as_html, as_outputs, as_text
from inference_kit.labs.checking import STATUSES, CheckResult


def result(points: int = 2, status: str = "passed", visible: bool = True, message: str = "m") -> CheckResult:
    earned = points if status == "passed" else 0
    return CheckResult("q1", "name", points, earned, visible, status, message, "misconception")


def nbgrader_score(verdict: Verdict) -> tuple[float | None, float]:
    cell = new_code_cell("check()", outputs=as_outputs(verdict))
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "points": verdict.max_points}
    return determine_grade(cell)


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(STATUSES)), max_size=6), st.integers(1, 60))
def test_nbgrader_gives_the_judged_score(checks: list[tuple[int, str]], max_points: int) -> None:
    verdict = Verdict("id", max_points, tuple(result(points, status) for points, status in checks))
    total = sum(points for points, _ in checks)
    earned = sum(points for points, status in checks if status == "passed")
    expected = float(Fraction(max_points * earned, total)) if total else 0.0
    score, points = nbgrader_score(verdict)
    assert score == pytest.approx(expected)
    assert points == max_points


def test_no_results_score_zero() -> None:
    assert nbgrader_score(Verdict("id", 5)) == (0, 5)


def test_only_passed_earns_whatever_the_record_says() -> None:
    forged = CheckResult("q1", "name", 2, 2, True, "not_run", "", "")
    assert nbgrader_score(Verdict("id", 2, (forged,))) == (0, 2)


def test_a_verdict_is_never_silent() -> None:
    assert all(as_outputs(Verdict("id", 5, results)) for results in ((), (result(),), (result(0),)))


@pytest.mark.parametrize("status", STATUSES)
def test_a_hidden_check_shows_fixed_words_only(status: str) -> None:
    text = as_text(Verdict("id", 2, (result(status=status, visible=False, message="SECRET"),)))
    assert "SECRET" not in text
    assert HIDDEN_TEXT[status] in text


def test_a_failed_check_names_its_misconception_and_a_passed_one_does_not() -> None:
    assert "misconception" in as_text(Verdict("id", 2, (result(status="failed"),)))
    assert "misconception" not in as_text(Verdict("id", 2, (result(),)))


def test_messages_are_escaped() -> None:
    page = as_html(Verdict("id", 2, (result(status="failed", message="<script>x</script>"),)))
    assert "<script>" not in page


def test_the_level_rlimits_is_called_provisional_everywhere() -> None:
    verdict = Verdict("id", 2, (result(),), level="rlimits")
    assert PROVISIONAL in as_text(verdict)
    assert PROVISIONAL in as_html(verdict)
    assert verdict.record()["provisional"] is True
