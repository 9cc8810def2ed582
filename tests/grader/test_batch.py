"""The judges of a batch: one that dies, hangs or fails touches its own submission only."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import batch
from grader.batch import judge_all, settings_of
from grader.course import Course, Submission
from grader.pipeline import Outcome, Station
from grader.sandbox import RLIMITS
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT

STUDENTS = ("ada", "bob", "cyd", "dan", "eve")
Fault = Callable[[Path], None]


def die(marks: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(marks: Path) -> None:
    os._exit(3)


def crash(marks: Path) -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(marks: Path) -> None:
    threading.Event().wait()


def fail(marks: Path) -> None:
    raise OSError("the disk is gone")


DEADLY = [die, leave, crash]


def course_with(root: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, times: int) -> Course:
    """A course in which grading bob meets `fault`, the first `times` times."""
    fake_lab.make_course(root)
    for student in STUDENTS:
        fake_lab.submit(root, student, fake_lab.submission(q1=f"# {student}\n{fake_lab.REFERENCE['q1']}"))
    marks = root / "marks"
    marks.mkdir()

    def grade(self: Station, submission: Submission) -> Outcome | str:
        if submission.student == "bob":
            tries = len(list(marks.iterdir()))
            (marks / str(tries)).touch()
            if tries < times:
                fault(marks)
        return submission.student

    monkeypatch.setattr(Station, "grade", grade)
    return Course(root)


def outcomes(course: Course, workers: int) -> dict[str, object]:
    """What each student got. The judges are forked: they have the replaced `Station.grade`."""
    todo = course.submissions(ASSIGNMENT)
    found = judge_all(course, settings_of(course, RLIMITS), todo, workers, method="fork")
    return {submission.student: result for submission, result in found}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("fault", [*DEADLY, fail])
def test_a_judge_that_dies_or_fails_once_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, workers: int
) -> None:
    course = course_with(tmp_path, monkeypatch, fault, times=1)
    assert outcomes(course, workers) == {student: student for student in STUDENTS}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("fault", DEADLY)
def test_a_judge_that_always_dies_costs_one_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, workers: int
) -> None:
    course = course_with(tmp_path, monkeypatch, fault, times=99)
    found = outcomes(course, workers)
    assert "died" in str(found.pop("bob"))
    assert found == {student: student for student in STUDENTS if student != "bob"}
    assert len(list((tmp_path / "marks").iterdir())) == batch.TRIES


def test_a_failure_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = course_with(tmp_path, monkeypatch, fail, times=99)
    assert outcomes(course, 1)["bob"] == "OSError: the disk is gone"


@pytest.mark.parametrize("workers", [1, 3])
def test_a_judge_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(batch, "SUBMISSION_S", 2.0)
    course = course_with(tmp_path, monkeypatch, hang, times=99)
    found = outcomes(course, workers)
    assert "took more than 2 s" in str(found.pop("bob"))
    assert found == {student: student for student in STUDENTS if student != "bob"}
