"""Feedback pages for whole classes: what `nbgrader generate_feedback` writes, with pictures.

Owns the making of a page and the decision whether it is up to date. A picture shows what the
learner's own answer did in the public cases of a lab's drawings; the answer runs in the sandbox
for it. Invariants: a page shows nothing of a hidden check but its name and fixed words; a page
is whole or as it was; and one that cannot be made stops no other.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades
from tqdm import tqdm

from inference_kit.labs.checking import AnswerError
from inference_kit.labs.drawings import draw

from .batch import START_METHOD
from .course import Course, Submission
from .feedback import TEMPLATES
from .gradebook import draft_of
from .graft import KEY
from .judge import program_cells, question_of, test_cells_of
from .pipeline import Settings, warm_modules
from .remote import RemoteSubject, Runner
from .sandbox import choose

MARK = '<meta name="feedback-of" content="{}">'
"""Names what a page was made from. It stands in the head."""
HEAD_BYTES = 1 << 20
ANSWERS = ("passed", "failed", "not_plain", "raised")
"""Outcomes of a check after which the answer can be asked again."""


@dataclass
class Report:
    """What was done with each page."""

    written: int = 0
    current: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """`student/assignment` and the reason."""


def write_pages(
    course: Course, assignments: Iterable[str], settings: Settings, workers: int, force: bool = False
) -> Report:
    """Write the pages of every graded submission that are missing or out of date."""
    report = Report()
    todo = [item for assignment in assignments for item in graded(course, assignment)]
    page = functools.partial(_page_of, str(course.root), settings, force)
    with tqdm(total=len(todo), desc="feedback", unit="page", disable=None) as bar:
        for item, result in _in_parallel(page, todo, workers):
            if isinstance(result, str):
                report.failed[f"{item.student}/{item.assignment}"] = result
            else:
                report.written += result
                report.current += not result
            bar.update()
    return report


def graded(course: Course, assignment: str) -> list[Submission]:
    """The graded notebooks of the learners that the gradebook knows."""
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        students = sorted(row.student.id for row in book.assignment_submissions(assignment))
    found = []
    for student in students:
        path = course.folder("autograded", student, assignment) / f"{assignment}.ipynb"
        if path.is_file():
            found.append(Submission(student, assignment, assignment, path))
    return found


def _in_parallel(
    page: Callable[[Submission], bool], todo: list[Submission], workers: int
) -> Iterator[tuple[Submission, bool | str]]:
    """(submission, whether its page was written, or why it could not be) as they finish."""
    if not todo:
        return
    context = multiprocessing.get_context(START_METHOD)
    with concurrent.futures.ProcessPoolExecutor(min(workers, len(todo)), context) as pool:
        futures = {pool.submit(page, item): item for item in todo}
        for future in concurrent.futures.as_completed(futures):
            error = future.exception()
            yield futures[future], future.result() if error is None else f"{type(error).__name__}: {error}"


# --- one page -----------------------------------------------------------------------------------------


@functools.cache
def _writer(root: str, settings: Settings) -> PageWriter:
    """The writer of this process."""
    return PageWriter(Course(Path(root)), settings)


def _page_of(root: str, settings: Settings, force: bool, item: Submission) -> bool:
    return _writer(root, settings).write(item, force)


class PageWriter:
    """Makes pages of a course, one after the other."""

    def __init__(self, course: Course, settings: Settings) -> None:
        self._course = course
        self._settings = settings
        stock = GenerateFeedback(coursedir=course.directory, config=course.config)
        self._exporter: HTMLExporter = stock.exporter_class(config=stock.config)
        self._exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
        self._grades = GetGrades(config=stock.config)

    def write(self, item: Submission, force: bool = False) -> bool:
        """Write one page if it is not up to date; whether it was written."""
        folder = self._course.folder("feedback", item.student, item.assignment)
        path = folder / f"{item.notebook}.html"
        notebook = nbformat.read(item.path, as_version=4)
        notebook, resources = self._with_grades(notebook, item)
        digest = self._digest(notebook, resources)
        if not force and is_made_from(path, digest):
            return False
        add_pictures(notebook, self._settings)
        page, _ = self._exporter.from_notebook_node(notebook, resources=resources)
        head, tag, rest = page.partition("<head>")
        folder.mkdir(parents=True, exist_ok=True)
        draft = draft_of(path)
        draft.write_text(f"{head}{tag}\n{MARK.format(digest)}{rest}", encoding="utf-8")
        draft.replace(path)
        return True

    def _with_grades(self, notebook: NotebookNode, item: Submission) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with scores and comments from the gradebook, as nbgrader's template wants them."""
        about = {
            "student": item.student,
            "assignment": item.assignment,
            "notebook": item.notebook,
            "db_url": self._course.directory.db_url,
        }
        resources: dict[str, Any] = {"unique_key": item.notebook, "nbgrader": about}
        graded_book: tuple[NotebookNode, dict[str, Any]] = self._grades.preprocess(notebook, resources)
        return graded_book

    def _digest(self, notebook: NotebookNode, resources: dict[str, Any]) -> str:
        """Changes with everything that a page shows."""
        code = [
            path.read_text(encoding="utf-8") for path in (*sorted(TEMPLATES.rglob("*.j2")), Path(__file__))
        ]
        parts = [notebook, resources["nbgrader"], self._settings.level, code]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_made_from(path: Path, digest: str) -> bool:
    """True for a page that was made from exactly this."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.format(digest).encode() in file.read(HEAD_BYTES)


# --- pictures -----------------------------------------------------------------------------------------


def add_pictures(notebook: NotebookNode, settings: Settings) -> None:
    """Put below each report a picture of what the answer did, where there is one."""
    verdicts = {
        verdict["grade_id"]: verdict for verdict in notebook.metadata.get(KEY, {}).get("verdicts", ())
    }
    drawable = [
        cell
        for cell in test_cells_of(notebook)
        if answers_calls(verdicts.get(cell.metadata.nbgrader["grade_id"], {}))
    ]
    if not drawable:
        return
    runner = Runner(program_cells(notebook), choose(settings.level), settings.limits, warm_modules(notebook))
    try:
        for cell in drawable:
            picture = picture_of(cell, runner)
            if picture:
                text = f"<p>What your answer did:</p>{picture}"
                cell.outputs.append(new_output("display_data", data={"text/html": text}))
    finally:
        runner.close()


def answers_calls(verdict: dict[str, Any]) -> bool:
    """True when every check of a question got an outcome from the answer: it can be asked again."""
    checks = verdict.get("checks", ())
    return bool(checks) and all(check["status"] in ANSWERS for check in checks)


def picture_of(cell: NotebookNode, runner: Runner) -> str:
    """HTML of a question's picture; empty where there is none, or where the answer gives none."""
    asked = question_of(cell)
    if asked is None:
        return ""
    subject: RemoteSubject | None = None
    try:
        subject = runner.start()
        subject.begin(runner.limits.check_s)
        picture = draw(*asked, subject)
        return "" if picture is None else str(picture.html())
    except AnswerError:
        return ""
    except Exception:
        # An answer may return anything; a drawing is written for the shape that is right.
        return ""
    finally:
        if subject is not None:
            subject.close()
