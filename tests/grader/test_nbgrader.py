"""The stock commands on a course of their own: what reaches learners, gradebook and feedback."""

from __future__ import annotations

import copy
import csv
import json
import re
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from grader import batch
from grader.commands.autograde import as_text
from grader.course import Course
from grader.demo import DemoFailed, nbgrader
from grader.graft import KEY
from grader.sandbox import AUTO, choose
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, FULL

pytestmark = pytest.mark.slow

THIEF = """
import glob, os, sqlite3
for path in glob.glob("{root}/**/gradebook.db", recursive=True) + ["{root}/grader/gradebook.db"]:
    try:
        base = sqlite3.connect(path)
        base.execute("UPDATE grade SET auto_score = 100, manual_score = 100")
        base.commit()
    except Exception:
        pass
def square(x):
    return 0
"""


@dataclass
class Graded:
    """A graded course: its root, and what `nbgrader autograde` printed."""

    root: Path
    log: list[str] = field(default_factory=list)

    def score(self, student: str) -> float:
        with Gradebook(f"sqlite:///{self.root}/grader/gradebook.db") as gradebook:
            return float(gradebook.find_submission(ASSIGNMENT, student).score)

    def notebook(self, student: str) -> NotebookNode:
        path = self.root / "grader" / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        return nbformat.read(path, as_version=4)

    def page(self, student: str) -> str:
        path = self.root / "grader" / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
        return path.read_text(encoding="utf-8")


def skipper() -> NotebookNode:
    """Nothing answered, every cell tagged, checks replaced, points raised."""
    notebook = fake_lab.released()
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader["points"] = 500
            cell.source = "500.0"
    return notebook


def pasted() -> NotebookNode:
    notebook = fake_lab.submission()
    notebook.cells += [
        copy.deepcopy(fake_lab.find_cell(notebook, name)) for name in ("lab90-q1", "lab90-q1-answer")
    ]
    return notebook


def stripped() -> NotebookNode:
    notebook = fake_lab.submission()
    for cell in notebook.cells:
        cell.metadata.clear()
    return notebook


def gutted() -> NotebookNode:
    """The answers without any check cell."""
    notebook = fake_lab.submission()
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("check(")]
    return notebook


def writer() -> NotebookNode:
    """A written answer with a script, a tracking picture and some honest markup."""
    notebook = fake_lab.submission(q1="def square(x):\n    return 2 * x\n")
    fake_lab.find_cell(notebook, "lab90-reflection").source = (
        "I **learned**.\n\n<script src='http://evil.example/x.js'></script>\n\n"
        "<img src='http://evil.example/p.png' onerror='alert(1)'>\n\n![p](http://evil.example/q.png)\n"
    )
    return notebook


def helped() -> NotebookNode:
    """An answer that uses a function from a cell of the learner's own."""
    notebook = fake_lab.submission(q1="def square(x):\n    return twice_times(x)\n")
    notebook.cells.insert(0, fake_lab.code("def twice_times(x):\n    return x * x"))
    return notebook


def old_format() -> str:
    cells = [
        {"cell_type": "code", "input": cell.source, "outputs": [], "metadata": {}, "language": "python"}
        for cell in fake_lab.submission().cells
    ]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]})


@pytest.fixture(scope="module", params=["nbgrader autograde", "grader autograde"])
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """One class, graded once by each command."""
    root = fake_lab.make_course(tmp_path_factory.mktemp("course"))
    warns = f"import warnings\nwarnings.warn('w')\n{fake_lab.REFERENCE['q1']}"
    submissions: dict[str, NotebookNode | str | bytes] = {
        "right": fake_lab.submission(),
        "stub": fake_lab.released(),
        "skipper": skipper(),
        "pasted": pasted(),
        "stripped": stripped(),
        "gutted": gutted(),
        "warns": fake_lab.submission(q1=warns),
        "dies": fake_lab.submission(q1="import os\nos._exit(0)"),
        "thief": fake_lab.submission(q1=THIEF.format(root=root)),
        "writer": writer(),
        "old-format": old_format(),
        "helper": helped(),
        "no-json": "this is not a notebook",
        "empty": b"",
        "no-cells": '{"nbformat": 4, "metadata": {}}',
    }
    for student, content in submissions.items():
        fake_lab.submit(root, student, content)
    folder = root / "grader" / "submitted" / "thief" / ASSIGNMENT
    (folder / "data").mkdir()
    (folder / "grades.txt").symlink_to(root / "grader" / "gradebook.db")
    (folder / "data" / "checks.txt").symlink_to(root / "solutions" / ASSIGNMENT / "checks.py")
    (folder / "honest.txt").write_text("mine")
    graded = Graded(root)
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    if request.param == "nbgrader autograde":
        nbgrader(root, "autograde", ASSIGNMENT, on_line=graded.log.append)
    else:
        opened = Course(root)
        report = batch.autograde(opened, [ASSIGNMENT], 2, batch.settings_of(opened))
        graded.log += as_text(report).splitlines()
    nbgrader(root, "generate_feedback", ASSIGNMENT)
    nbgrader(root, "export")
    return graded


EXPECTED = {
    "right": FULL,
    "stub": 0,
    "skipper": 0,
    "pasted": FULL,
    "stripped": FULL,
    "gutted": FULL,
    "warns": FULL,
    "dies": FULL - 5,
    "thief": FULL - 5,
    "writer": FULL - 5,
    "old-format": FULL,
    "helper": FULL,
    "no-json": 0,
    "empty": 0,
    "no-cells": 0,
}


@pytest.mark.parametrize(("student", "expected"), EXPECTED.items())
def test_the_gradebook_has_the_judged_score(student: str, expected: float, course: Graded) -> None:
    assert course.score(student) == expected


def test_export_says_the_same(course: Graded) -> None:
    with (course.root / "grader" / "exports" / "grades.csv").open(newline="") as file:
        exported = {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}
    assert exported == EXPECTED


def test_every_submission_ends_with_a_notebook_and_a_page(course: Graded) -> None:
    for student in EXPECTED:
        assert course.notebook(student).cells
        assert course.page(student)


@pytest.mark.parametrize("student", ["no-json", "empty", "no-cells"])
def test_an_ungradable_submission_says_why(student: str, course: Graded) -> None:
    notebook = course.notebook(student)
    assert "not graded" in notebook.cells[0].source
    assert all(verdict["reason"] for verdict in notebook.metadata[KEY]["verdicts"])
    assert any(student in line and "not graded" in line for line in course.log)


def test_the_level_of_the_sandbox_is_recorded(course: Graded) -> None:
    levels = {verdict["sandbox"] for verdict in course.notebook("right").metadata[KEY]["verdicts"]}
    assert levels == {choose(AUTO).level}


def test_a_pasted_duplicate_is_flagged_and_appears_once(course: Graded) -> None:
    notebook = course.notebook("pasted")
    assert "duplicate lab90-q1-answer" in notebook.cells[0].source
    ids = [cell.metadata.nbgrader["grade_id"] for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert len(ids) == len(set(ids))


def test_the_database_was_not_touched_by_the_thief(course: Graded) -> None:
    with sqlite3.connect(course.root / "grader" / "gradebook.db") as base:
        assert base.execute("SELECT COUNT(*) FROM grade WHERE manual_score IS NOT NULL").fetchone() == (0,)


def test_links_in_a_submission_lead_nowhere(course: Graded) -> None:
    for step in ("autograded", "feedback"):
        folder = course.root / "grader" / step / "thief" / ASSIGNMENT
        names = {path.name for path in folder.rglob("*")}
        assert "honest.txt" in names
        assert names.isdisjoint({"grades.txt", "checks.txt"})


def test_a_learners_own_helper_cell_is_shown_in_the_graded_notebook(course: Graded) -> None:
    assert "def twice_times" in course.notebook("helper").cells[-1].source


def test_the_release_holds_the_stub_and_no_solution(course: Graded) -> None:
    folder = course.root / "labs" / ASSIGNMENT
    assert [path.name for path in folder.iterdir()] == [f"{ASSIGNMENT}.ipynb"]
    text = (folder / f"{ASSIGNMENT}.ipynb").read_text()
    assert "raise NotImplementedError" in text
    assert "TODO 1" in text
    for secret in ("x * x", "BEGIN SOLUTION", "squares_any_number", "misconception"):
        assert secret not in text


def without_styles(page: str) -> str:
    return re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("student", EXPECTED)
def test_a_feedback_page_asks_nothing_of_the_network(student: str, course: Graded) -> None:
    page = course.page(student)
    assert "<script" not in page
    assert "@import" not in page
    assert not re.search(r"url\(\s*['\"]?(?!data:)", page)
    assert not re.search(r"<(?:img|link|iframe|source|video|audio|embed|object)\b[^>]*(?:https?:)?//", page)


@pytest.mark.parametrize("student", EXPECTED)
def test_a_feedback_page_names_checks_and_shows_no_source_of_one(student: str, course: Graded) -> None:
    page = course.page(student)
    assert "check(&quot;lab90.q1&quot;)" in page or "lab90.q1" in page
    for hidden in ("randint", "tells_its_listener(s, rng)", "expect_raises", "CHECKS"):
        assert hidden not in page


def test_feedback_names_the_misconception_of_a_failed_check(course: Graded) -> None:
    assert "Doubling is not squaring." in course.page("writer")
    assert "Doubling is not squaring." not in course.page("right")


def test_a_learners_html_is_harmless_on_the_page(course: Graded) -> None:
    page = without_styles(course.page("writer"))
    assert "<strong>learned</strong>" in page
    assert "&lt;script" in page
    assert "onerror" not in page
    assert 'src="http' not in page


def test_a_second_run_gives_the_same_scores_and_outputs(course: Graded) -> None:
    before = {student: course.notebook(student) for student in EXPECTED}
    nbgrader(course.root, "autograde", ASSIGNMENT, "--force")
    assert {student: course.notebook(student) for student in EXPECTED} == before
    assert {student: course.score(student) for student in EXPECTED} == EXPECTED


def test_points_changed_after_the_release_stop_with_a_clear_word(tmp_path: Path) -> None:
    root = fake_lab.make_course(tmp_path)
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    fake_lab.submit(root, "ada", fake_lab.submission())
    source = root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    source.write_text(source.read_text().replace('"points": 5', '"points": 7'))
    lines: list[str] = []
    with pytest.raises(DemoFailed):
        nbgrader(root, "autograde", ASSIGNMENT, on_line=lines.append)
    assert any("differ in lab90-q1" in line and "generate_assignment" in line for line in lines)
