"""The sample class of every lab, graded: every score is the declared one."""

from __future__ import annotations

import html
import inspect
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grader import cli, demo
from grader.course import Course
from grader.sandbox import AUTO, REPOSITORY
from inference_kit.labs.checking import load_checks

pytestmark = pytest.mark.slow


LABS = Course(REPOSITORY).assignments()


@dataclass
class Class:
    """The graded sample class and its course root."""

    root: Path
    graded: demo.Graded


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """The sample class of every lab."""
    root = tmp_path_factory.mktemp("demo") / "course"
    return Class(root, demo.grade_class(root, AUTO, LABS))


def test_every_score_is_the_expected_one(sample: Class) -> None:
    expected = {
        (lab, each.student): each.expected
        for lab, samples in sample.graded.samples.items()
        for each in samples
    }
    assert sample.graded.scores == expected


def test_every_lab_has_the_same_class(sample: Class) -> None:
    names = {tuple(each.student for each in samples) for samples in sample.graded.samples.values()}
    assert set(sample.graded.samples) == set(LABS)
    assert len(names) == 1


def test_the_class_has_what_the_course_promises(sample: Class) -> None:
    samples = sample.graded.samples[demo.STOCK_LAB]
    names = [each.student.split("-", 1)[1] for each in samples]
    assert len(samples) >= 12
    assert sum(name.startswith("fault-") for name in names) == 6
    assert {"right", "right-too", "half", "stub", "raises", "pasted", "skip", "exit", "loop", "liar"} <= set(
        names
    )


@pytest.mark.parametrize("lab", LABS)
def test_the_scores_are_of_many_kinds(sample: Class, lab: str) -> None:
    samples = sample.graded.samples[lab]
    full = max(each.expected for each in samples)
    assert {0, full} < {each.expected for each in samples}
    assert all(0 < each.expected < full for each in samples if "fault" in each.student)


@pytest.mark.parametrize("lab", LABS)
def test_the_release_is_the_one_in_labs(sample: Class, lab: str) -> None:
    name = f"labs/{lab}/{lab}.ipynb"
    assert json.loads((sample.root / name).read_text("utf-8")) == json.loads(
        (REPOSITORY / name).read_text("utf-8")
    )


def test_nothing_but_the_notebook_is_released(sample: Class) -> None:
    released = sorted(path.name for path in (sample.root / "labs").rglob("*") if path.is_file())
    assert released == [f"{lab}.ipynb" for lab in LABS]


def test_no_feedback_page_holds_a_hidden_check(sample: Class) -> None:
    checks = load_checks(REPOSITORY / "solutions" / demo.STOCK_LAB / "checks.py")
    hidden = {
        line.strip()
        for check in checks.checks
        if not check.visible
        for line in inspect.getsource(check.function).split("\n")[2:]
        if len(line.strip()) > 25
    }
    assert hidden
    pages = list((sample.root / "grader" / "feedback").rglob("*.html"))
    assert len(pages) == len(sample.graded.samples[demo.STOCK_LAB])
    for page in pages:
        text = html.unescape(re.sub("<[^>]+>", "", page.read_text("utf-8")))
        assert [line for line in hidden if line in text] == []


def test_a_wrong_score_ends_with_an_error_status(sample: Class, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.print_scores(sample.graded) == 0
    changed = {**sample.graded.scores, (demo.STOCK_LAB, "s01-right"): 0.0}
    assert demo.print_scores(replace(sample.graded, scores=changed)) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_an_unbuilt_lab_is_named(tmp_path: Path) -> None:
    with pytest.raises(demo.DemoFailed, match="make labs"):
        demo.prepare_root(tmp_path / "course", ["lab98_missing"])


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
