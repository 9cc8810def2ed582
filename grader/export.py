"""Grades as tables: a CSV of scores or of questions, and the forms that Canvas and Moodle import.

Owns the columns and how a value is written. It reads the gradebook and changes nothing in it.
Invariants: every number is the gradebook's own, unrounded; and no text becomes a formula when a
spreadsheet opens the file.

Canvas reads the columns Student, ID, SIS User ID, SIS Login ID and Section, a row of points
possible, and one column for each assignment, by its title. An empty grade leaves the one that is
there. Moodle lets the instructor choose which column names the learner and which grade item each
of the others is; it stops at the first learner that it does not know.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.api import Student as StudentRow
from sqlalchemy import select
from sqlalchemy.engine import make_url

from inference_kit.errors import KitError

from .course import Course
from .roster import Roster, Student

CSV, CANVAS, MOODLE = "csv", "canvas", "moodle"
FORMATS = (CSV, CANVAS, MOODLE)
FORMULA_STARTS = tuple("=+-@\t\r|%＝＋－＠")
NOT_SUBMITTED, TO_READ, GRADED = "not submitted", "needs manual grade", "graded"


class ExportError(KitError):
    """There is nothing to export, or no place for it; the message says what to do."""


@dataclass(frozen=True)
class Score:
    """One submission in the gradebook. Points."""

    raw: float
    penalty: float
    timestamp: Any
    needs_manual_grade: bool

    @property
    def final(self) -> float:
        """After the penalty, and never below zero."""
        return max(0.0, self.raw - self.penalty)


@dataclass(frozen=True)
class Question:
    """One graded cell of one submission. Points; None where nobody has scored yet."""

    assignment: str
    student: str
    name: str
    auto: float | None
    manual: float | None
    extra: float | None
    score: float
    max_score: float
    needs_manual_grade: bool


@dataclass
class Grades:
    """What the gradebook holds."""

    students: dict[str, Student] = field(default_factory=dict)
    assignments: dict[str, float] = field(default_factory=dict)
    """Name to points possible."""
    due: dict[str, Any] = field(default_factory=dict)
    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    """By (student, assignment)."""
    questions: list[Question] = field(default_factory=list)


def read_grades(course: Course, wanted: Iterable[str] = (), roster: Roster | None = None) -> Grades:
    """Everything that is exported, of the assignments asked for (none named: all). Raises `ExportError`."""
    url = make_url(course.directory.db_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise ExportError(f"{url.database} is not there; generate and grade an assignment first")
    grades = Grades()
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        _read_names(book, grades, set(wanted))
        _read_scores(book, grades)
        _read_questions(book, grades)
    for student in roster.students.values() if roster is not None else ():
        known = grades.students.get(student.id, student)
        told = {name: value for name, value in asdict(student).items() if value}
        grades.students[student.id] = replace(known, **told)
    grades.students = dict(sorted(grades.students.items()))
    return grades


def _read_names(book: Gradebook, grades: Grades, wanted: set[str]) -> None:
    for row in book.db.execute(select(Assignment.name, Assignment.max_score, Assignment.duedate)):
        if not wanted or row[0] in wanted:
            grades.assignments[row[0]], grades.due[row[0]] = float(row[1]), row[2]
    missing = wanted - grades.assignments.keys()
    if missing:
        raise ExportError(f"the gradebook has no assignment {', '.join(sorted(missing))}")
    grades.assignments = dict(sorted(grades.assignments.items()))
    columns = (StudentRow.id, StudentRow.first_name, StudentRow.last_name, StudentRow.email)
    for row in book.db.execute(select(*columns)):
        grades.students[row[0]] = Student(*(value or "" for value in row))


def _read_scores(book: Gradebook, grades: Grades) -> None:
    query = (
        select(
            SubmittedAssignment.student_id,
            Assignment.name,
            SubmittedAssignment.score,
            SubmittedAssignment.late_submission_penalty,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.needs_manual_grade,
        )
        .select_from(SubmittedAssignment)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    )
    for student, assignment, score, penalty, timestamp, needs in book.db.execute(query):
        if assignment in grades.assignments:
            found = Score(float(score or 0.0), float(penalty or 0.0), timestamp, bool(needs))
            grades.scores[student, assignment] = found


def _read_questions(book: Gradebook, grades: Grades) -> None:
    query = (
        select(Assignment.name, SubmittedAssignment.student_id, Grade)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(Assignment, Notebook.assignment_id == Assignment.id)
    )
    for assignment, student, grade in book.db.execute(query):
        if assignment in grades.assignments:
            grades.questions.append(
                Question(
                    assignment,
                    student,
                    grade.name,
                    grade.auto_score,
                    grade.manual_score,
                    grade.extra_credit,
                    float(grade.score or 0.0),
                    float(grade.max_score or 0.0),
                    bool(grade.needs_manual_grade),
                )
            )
    grades.questions.sort(key=lambda question: (question.assignment, question.student, question.name))


# --- the tables -------------------------------------------------------------------------------------

Table = list[list[Any]]


def score_table(grades: Grades) -> Table:
    """One line for each learner and assignment, as nbgrader exports it, and the state."""
    head = [
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
        "raw_score", "late_submission_penalty", "score", "max_score", "state",
    ]  # fmt: skip
    table: Table = [head]
    for assignment, points in grades.assignments.items():
        for student in grades.students.values():
            score = grades.scores.get((student.id, assignment))
            told = [score.raw, score.penalty, score.final] if score else [0.0, 0.0, 0.0]
            state = NOT_SUBMITTED if score is None else TO_READ if score.needs_manual_grade else GRADED
            table.append(
                [
                    assignment, grades.due[assignment], score.timestamp if score else None, student.id,
                    student.last_name, student.first_name, student.email, *told, points, state,
                ]
            )  # fmt: skip
    return table


def question_table(grades: Grades) -> Table:
    """One line for each learner and graded cell."""
    table: Table = [
        [
            "assignment", "student_id", "question", "auto_score", "manual_score", "extra_credit",
            "score", "max_score", "needs_manual_grade",
        ]
    ]  # fmt: skip
    for question in grades.questions:
        needs = "yes" if question.needs_manual_grade else "no"
        table.append(
            [
                question.assignment, question.student, question.name, question.auto, question.manual,
                question.extra, question.score, question.max_score, needs,
            ]
        )  # fmt: skip
    return table


def canvas_table(grades: Grades, titles: dict[str, str]) -> Table:
    """Canvas' gradebook. Who did not submit has an empty grade, which changes nothing there."""
    names = list(grades.assignments)
    table: Table = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(titles.get(n, n) for n in names)],
        ["    Points Possible", "", "", "", "", *grades.assignments.values()],
    ]
    for student in grades.students.values():
        name = ", ".join(part for part in (student.last_name, student.first_name) if part) or student.id
        login = student.sis_login_id or student.id
        who = [name, student.canvas_id, student.sis_user_id, login, student.section]
        table.append([*who, *(_final(grades, student.id, name) for name in names)])
    return table


def moodle_table(grades: Grades, titles: dict[str, str]) -> Table:
    """Moodle's grade import. Who submitted nothing at all is left out: there is nothing to import."""
    names = list(grades.assignments)
    head = ["Username", "ID number", "Email address", "First name", "Last name"]
    table: Table = [[*head, *(titles.get(name, name) for name in names)]]
    for student in grades.students.values():
        marks = [_final(grades, student.id, name) for name in names]
        if any(mark is not None for mark in marks):
            who = [student.id, student.idnumber, student.email, student.first_name, student.last_name]
            table.append([*who, *marks])
    return table


def _final(grades: Grades, student: str, assignment: str) -> float | None:
    score = grades.scores.get((student, assignment))
    return None if score is None else score.final


# --- writing ----------------------------------------------------------------------------------------


def as_csv(table: Table) -> str:
    """The text of a table."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows([cell(value) for value in row] for row in table)
    return buffer.getvalue()


def cell(value: Any) -> str:
    """One value as it is written. A number is exact, a text is no formula, None is empty."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else repr(value)
    text = "".join(sign if sign.isprintable() else " " for sign in str(value))
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) else text


def table_of(grades: Grades, form: str, per_question: bool, titles: dict[str, str]) -> Table:
    """The table of a format. Raises `ExportError` for a combination that is none."""
    unknown = titles.keys() - grades.assignments.keys()
    if unknown:
        raise ExportError(f"a title for {', '.join(sorted(unknown))}, which is not exported")
    if per_question:
        if form != CSV:
            raise ExportError(f"questions are exported as {CSV}; {form} takes scores of whole assignments")
        return question_table(grades)
    tables: dict[str, Callable[[], Table]] = {
        CSV: lambda: score_table(grades),
        CANVAS: lambda: canvas_table(grades, titles),
        MOODLE: lambda: moodle_table(grades, titles),
    }
    return tables[form]()


def write_text(path: Path, text: str) -> None:
    """Write a file so that it is whole or as it was. Raises `ExportError`."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ExportError(f"{path} cannot be written ({error.strerror})") from error
