"""Late work, extensions, manual scores and task cells: both ways to grade fill the gradebook alike."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from grader import batch
from grader.course import Course
from grader.demo import nbgrader
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, FULL

pytestmark = pytest.mark.slow

DUE = datetime(2026, 3, 1, 12, 0, 0)
TIMES = {
    "early": "2026-03-01 11:59:59 UTC",
    "one-hour": "2026-03-01 12:30:00 UTC",
    "three-hours": "2026-03-01 14:30:00.500000 UTC",
    "two-days": "2026-03-03 14:00:00 UTC",
    "below-zero": "2026-03-01 13:00:00 UTC",
    "no-answer": "2026-03-01 13:00:00 UTC",
    "above-score": "2026-03-01 13:00:00 UTC",
    "in-extension": "2026-03-01 16:00:00 UTC",
    "after-extension": "2026-03-02 14:00:00 UTC",
    "extended-later": "2026-03-01 16:00:00 UTC",
    "scored-by-hand": "2026-03-01 12:30:00 UTC",
    "again": "2026-03-01 11:00:00 UTC",
    "same-again": "2026-03-01 11:00:00 UTC",
    "empty-time": "\n",
    "no-time": "",
}
EXTENSIONS = {"in-extension": 5, "after-extension": 24}
LATER = "2026-03-01 12:10:00 UTC"
TASK = "lab90-task"


def add_task(root: Path) -> None:
    """Give the fake lab a task cell with four points."""
    path = root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cell = new_markdown_cell("Draw a picture.\n\n=== BEGIN MARK SCHEME ===\nNeat.\n=== END MARK SCHEME ===")
    cell["id"] = "task"
    cell.metadata["nbgrader"] = {
        "schema_version": 3, "grade_id": TASK, "grade": False, "solution": False, "locked": True,
        "task": True, "points": 4,
    }  # fmt: skip
    notebook.cells.append(cell)
    nbformat.write(notebook, path)


class Graded:
    """A course that is graded by one of the two commands."""

    def __init__(self, root: Path, command: str) -> None:
        self.root, self.command = fake_lab.make_course(root), command
        config = self.root / "nbgrader_config.py"
        rule = '\nc.AssignLatePenalties.plugin_class = "tests.grader.late_plugins.PerHour"\n'
        config.write_text(config.read_text("utf-8") + rule, "utf-8")
        add_task(self.root)
        nbgrader(self.root, "generate_assignment", ASSIGNMENT)

    def book(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.root}/grader/gradebook.db")

    def due(self, at: datetime | None) -> None:
        with self.book() as book:
            book.update_or_create_assignment(ASSIGNMENT, duedate=at)

    def extend(self, student: str, hours: float) -> None:
        with self.book() as book:
            book.update_or_create_student(student)
            book.update_or_create_submission(ASSIGNMENT, student)
            book.grant_extension(ASSIGNMENT, student, hours=hours)

    def submit(self, student: str, text: str, notebook: Any = None) -> None:
        path = self.root / "grader" / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook or fake_lab.submission()))
        if text:
            path.with_name("timestamp.txt").write_text(text)

    def grade(self, *, force: bool = False) -> batch.Report | None:
        if self.command == "nbgrader":
            nbgrader(self.root, "autograde", ASSIGNMENT, *(["--force"] if force else []))
            return None
        course = Course(self.root)
        return batch.autograde(course, [ASSIGNMENT], 1, batch.settings_of(course), force)

    def score_by_hand(self, student: str, grade_id: str, points: float, extra: float = 0.0) -> None:
        with self.book() as book:
            grade = book.find_grade(grade_id, ASSIGNMENT, ASSIGNMENT, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
            comment = book.find_comment("lab90-reflection", ASSIGNMENT, ASSIGNMENT, student)
            comment.manual_comment = "well said"
            book.db.commit()

    def rows(self) -> dict[str, Any]:
        """Everything in the gradebook that a person or an export reads."""
        with self.book() as book:
            return {
                submission.student.id: {
                    "timestamp": submission.timestamp,
                    "late": submission.total_seconds_late if submission.assignment.duedate else 0,
                    "score": submission.score,
                    "max_score": submission.max_score,
                    "penalty": submission.late_submission_penalty,
                    "needs_manual_grade": submission.needs_manual_grade,
                    "grades": {
                        grade.name: (
                            grade.auto_score, grade.manual_score, grade.extra_credit, grade.score,
                            grade.max_score, grade.needs_manual_grade,
                        )
                        for notebook in submission.notebooks
                        for grade in notebook.grades
                    },
                    "comments": {
                        comment.name: (comment.auto_comment, comment.manual_comment)
                        for notebook in submission.notebooks
                        for comment in notebook.comments
                    },
                }
                for submission in book.assignment_submissions(ASSIGNMENT)
            }  # fmt: skip


# --- one class, graded three times by each command


def first(course: Graded) -> None:
    """A class hands in, early and late."""
    course.due(DUE)
    for student, hours in EXTENSIONS.items():
        course.extend(student, hours)
    for student, text in TIMES.items():
        course.submit(student, text)
    course.submit("again", TIMES["again"], fake_lab.released())
    course.submit("stub-late", TIMES["two-days"], fake_lab.released())
    wrong = fake_lab.submission(q1="def square(x):\n    return 0\n")
    course.submit("scored-up", "", wrong)
    course.grade()


def second(course: Graded) -> None:
    """Two hand in again: other work, and the same work at another time."""
    course.submit("again", LATER)
    course.submit("same-again", LATER)
    course.grade()


def third(course: Graded) -> None:
    """A person scores, a late one gets more time, and all is graded again."""
    course.score_by_hand("scored-by-hand", "lab90-reflection", 1.0)
    course.score_by_hand("scored-by-hand", TASK, 3.0, extra=0.5)
    course.score_by_hand("scored-up", "lab90-q1", 4.0)
    course.extend("extended-later", 5)
    course.grade(force=True)


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The gradebook after each of the three, by command."""
    found: dict[str, list[dict[str, Any]]] = {}
    for command in ("nbgrader", "grader"):
        course = Graded(tmp_path_factory.mktemp(command), command)
        for act in (first, second, third):
            act(course)
            found.setdefault(command, []).append(course.rows())
    return found


STUDENTS = [*TIMES, "stub-late", "scored-up"]


@pytest.mark.parametrize("act", [0, 1, 2])
@pytest.mark.parametrize("student", STUDENTS)
def test_both_ways_to_grade_fill_the_gradebook_alike(
    student: str, act: int, histories: dict[str, list[dict[str, Any]]]
) -> None:
    assert histories["grader"][act][student] == histories["nbgrader"][act][student]


def test_the_class_has_all_that_is_compared(histories: dict[str, list[dict[str, Any]]]) -> None:
    rows = histories["nbgrader"][2]
    assert set(rows) == set(STUDENTS)
    assert rows["three-hours"]["penalty"] == 3
    assert rows["above-score"]["penalty"] == FULL
    assert rows["in-extension"]["penalty"] == rows["extended-later"]["penalty"] == 0
    assert histories["nbgrader"][0]["extended-later"]["penalty"] == 4
    assert rows["scored-by-hand"]["score"] == FULL + 1 + 3.5
    assert rows["scored-up"]["grades"]["lab90-q1"][:2] == (0, 4)
    assert rows["early"]["needs_manual_grade"]


# --- what the fast path does beside


@pytest.fixture
def quick(tmp_path: Path) -> Graded:
    return Graded(tmp_path / "course", "grader")


def test_an_extension_counts_without_force(quick: Graded) -> None:
    quick.due(DUE)
    quick.submit("ada", TIMES["three-hours"])
    quick.grade()
    assert quick.rows()["ada"]["penalty"] == 3
    quick.extend("ada", 5)
    report = quick.grade()
    assert report is not None
    assert (report.graded, report.current) == (0, 1)
    assert quick.rows()["ada"]["penalty"] == 0


def test_an_extension_without_a_due_date_makes_nobody_late(quick: Graded) -> None:
    quick.submit("ada", TIMES["two-days"])
    quick.submit("bob", TIMES["two-days"])
    quick.extend("ada", 5)
    report = quick.grade()
    assert report is not None
    assert report.failed == {}
    assert {row["penalty"] for row in quick.rows().values()} == {0}


@pytest.mark.parametrize("force", [False, True])
def test_a_faulty_rule_costs_its_own_submission_and_says_so(quick: Graded, force: bool) -> None:
    quick.due(DUE)
    for student in ("ada", "no-rule", "zoe"):
        quick.submit(student, TIMES["one-hour"])
    for _ in range(2):
        report = quick.grade(force=force)
        assert report is not None
        assert list(report.failed) == [f"no-rule/{ASSIGNMENT}"]
        assert "ZeroDivisionError: a fault in the rule" in report.failed[f"no-rule/{ASSIGNMENT}"]
    rows = quick.rows()
    assert rows["ada"]["penalty"] == rows["zoe"]["penalty"] == 1
    assert "no-rule" not in rows or rows["no-rule"]["score"] == 0
