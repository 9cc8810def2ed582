"""The sample class of lab 01, graded by the stock commands: every score is the declared one."""

from __future__ import annotations

import html
import inspect
import json
import re
from pathlib import Path

import pytest

from grader import cli, demo
from grader.sandbox import AUTO, REPOSITORY
from inference_kit.labs.checking import load_checks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[demo.Sample], dict[str, float]]:
    """(course root, sample class, exported scores)."""
    root = tmp_path_factory.mktemp("demo") / "course"
    samples, stages = demo.grade_class(root, AUTO)
    assert set(stages) == {"generate_assignment", "autograde", "generate_feedback", "export"}
    return root, samples, demo.exported_scores(root, demo.LAB)


Graded = tuple[Path, list[demo.Sample], dict[str, float]]


def test_every_score_is_the_expected_one(graded: Graded) -> None:
    _, samples, scores = graded
    assert scores == {sample.student: sample.expected for sample in samples}


def test_the_class_has_what_the_course_promises(graded: Graded) -> None:
    _, samples, _ = graded
    names = [sample.student.split("-", 1)[1] for sample in samples]
    assert len(samples) >= 12
    assert sum(name.startswith("fault-") for name in names) == 6
    assert {"right", "right-too", "half", "stub", "raises", "pasted", "skip", "exit", "loop", "liar"} <= set(
        names
    )


def test_the_scores_are_of_many_kinds(graded: Graded) -> None:
    _, samples, _ = graded
    full = max(sample.expected for sample in samples)
    assert {0, full} < {sample.expected for sample in samples}
    assert all(0 < sample.expected < full for sample in samples if "fault" in sample.student)


def test_the_release_is_the_one_in_labs(graded: Graded) -> None:
    root, _, _ = graded
    name = f"labs/{demo.LAB}/{demo.LAB}.ipynb"
    assert json.loads((root / name).read_text("utf-8")) == json.loads((REPOSITORY / name).read_text("utf-8"))


def test_nothing_but_the_notebook_is_released(graded: Graded) -> None:
    root, _, _ = graded
    assert [path.name for path in (root / "labs").rglob("*") if path.is_file()] == [f"{demo.LAB}.ipynb"]


def test_no_feedback_page_holds_a_hidden_check(graded: Graded) -> None:
    root, samples, _ = graded
    checks = load_checks(REPOSITORY / "solutions" / demo.LAB / "checks.py")
    hidden = {
        line.strip()
        for check in checks.checks
        if not check.visible
        for line in inspect.getsource(check.function).split("\n")[2:]
        if len(line.strip()) > 25
    }
    assert hidden
    pages = list((root / "grader" / "feedback").rglob("*.html"))
    assert len(pages) == len(samples)
    for page in pages:
        text = html.unescape(re.sub("<[^>]+>", "", page.read_text("utf-8")))
        assert [line for line in hidden if line in text] == []


def test_a_wrong_score_ends_with_an_error_status(graded: Graded, capsys: pytest.CaptureFixture[str]) -> None:
    _, samples, scores = graded
    assert demo.print_scores(samples, scores) == 0
    assert demo.print_scores(samples, {**scores, samples[0].student: 0.0}) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_an_unbuilt_lab_is_named(tmp_path: Path) -> None:
    with pytest.raises(demo.DemoFailed, match="make labs"):
        demo.prepare_root(tmp_path / "course", "lab98_missing")


@pytest.mark.sandbox
def test_doctor_says_that_bubblewrap_stops_everything(
    bubblewrap: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor", "--sandbox", "bubblewrap"]) == 0
    assert "NOT STOPPED" not in capsys.readouterr().out


def test_doctor_at_rlimits_says_that_grades_are_provisional(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--sandbox", "rlimits"]) == 1
    text = capsys.readouterr().out
    assert "provisional" in text
    assert "NOT STOPPED  use the network" in text
