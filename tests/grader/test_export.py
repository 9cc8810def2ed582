"""Exports: every number is the gradebook's, no text is a formula, and each system gets its form."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from grader.cli import main
from grader.course import Course
from grader.export import ExportError, as_csv, cell, read_grades, table_of
from grader.roster import Roster, Student
from tests.grader import fake_lab

STUDENTS = {
    "ada": ("Ada", "Lovelace", "ada@x.org"),
    "=cmd|' /C calc'!A0": ("=1+1", "@SUM(A1)", "+x@x.org"),
    "zoë": ("Zoë", "O'Neil, Jr.", ""),
    "quiet": ("", "", ""),
    "absent": ("Abe", "Sent", "abe@x.org"),
}
LABS = {"lab90_fake": 3, "lab91_other": 2}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose gradebook has uneven scores, penalties, extra credit and open manual grades."""
    root = fake_lab.make_course(tmp_path_factory.mktemp("course"))
    rng = random.Random(5)
    with Gradebook(f"sqlite:///{root}/grader/gradebook.db", "inference") as book:
        for student, (first, last, email) in STUDENTS.items():
            book.add_student(student, first_name=first, last_name=last, email=email)
        for lab, questions in LABS.items():
            book.add_assignment(lab, duedate=datetime(2026, 3, 1))
            book.add_notebook(lab, lab)
            for number in range(questions):
                book.add_grade_cell(f"{lab}-q{number}", lab, lab, max_score=7, cell_type="code")
            book.add_grade_cell(f"{lab}-reflection", lab, lab, max_score=1, cell_type="markdown")
            for student in list(STUDENTS)[:-1]:
                submit(book, lab, student, rng)
    return root


def submit(book: Gradebook, lab: str, student: str, rng: random.Random) -> None:
    submission = book.add_submission(lab, student, timestamp=datetime(2026, 3, 2, 1, 2, 3))
    notebook = submission.notebooks[0]
    for grade in notebook.grades:
        is_code = "reflection" not in grade.name
        grade.auto_score = rng.choice([0.0, 7.0, 7 / 3, rng.random() * 7]) if is_code else None
        grade.manual_score = None if rng.random() < 0.6 else rng.random()
        grade.extra_credit = rng.choice([None, 0.1])
        grade.needs_manual_grade = grade.manual_score is None and not is_code
    notebook.late_submission_penalty = rng.choice([None, 0.7, 100.0])
    book.db.commit()


@pytest.fixture
def book(root: Path) -> Iterator[Gradebook]:
    with Gradebook(f"sqlite:///{root}/grader/gradebook.db", "inference") as opened:
        yield opened


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def exported(root: Path, form: str, *, per_question: bool = False, **options: object) -> list[dict[str, str]]:
    roster, titles = options.get("roster"), options.get("titles")
    assert roster is None or isinstance(roster, Roster)
    grades = read_grades(Course(root), (), roster)
    return read(as_csv(table_of(grades, form, per_question, titles if isinstance(titles, dict) else {})))


def final(book: Gradebook, lab: str, student: str) -> float:
    submission = book.find_submission(lab, student)
    return max(0.0, submission.score - submission.late_submission_penalty)


def plain(text: str) -> str:
    """A text without the mark that keeps it from being a formula."""
    return text.removeprefix("'")


# --- the numbers


def test_scores_are_those_of_nbgraders_own_export(root: Path, book: Gradebook, tmp_path: Path) -> None:
    stock = CsvExportPlugin()
    stock.to = str(tmp_path / "stock.csv")
    stock.export(book)
    theirs = Path(stock.to).read_text("utf-8").splitlines()
    ours = exported(root, "csv")
    assert list(ours[0])[:-1] == theirs[0].split(",")
    assert len(ours) == len(theirs) - 1 == len(STUDENTS) * len(LABS)
    numbers = ("raw_score", "late_submission_penalty", "score", "max_score")
    by_key = {}
    for line in theirs[1:]:
        fields = line.split(",")
        by_key[fields[0], fields[3]] = [float(number) for number in fields[-4:]]
    for row in ours:
        # The database adds up in an order of its own: the last digit may differ between two queries.
        expected = by_key[row["assignment"], plain(row["student_id"])]
        assert [float(row[name]) for name in numbers] == pytest.approx(expected, rel=1e-12)


def test_each_question_has_the_gradebooks_numbers(root: Path, book: Gradebook) -> None:
    rows = exported(root, "csv", per_question=True)
    assert len(rows) == sum((questions + 1) * (len(STUDENTS) - 1) for questions in LABS.values())
    for row in rows:
        lab, student = row["assignment"], plain(row["student_id"])
        grade = book.find_grade(row["question"], lab, lab, student)
        numbers = [
            None if row[name] == "" else float(row[name])
            for name in ("auto_score", "manual_score", "extra_credit", "score", "max_score")
        ]
        assert numbers == [
            grade.auto_score, grade.manual_score, grade.extra_credit, grade.score, grade.max_score,
        ]  # fmt: skip
        assert (row["needs_manual_grade"] == "yes") == grade.needs_manual_grade


def test_the_questions_add_up_to_the_score(root: Path, book: Gradebook) -> None:
    total: dict[tuple[str, str], float] = {}
    for row in exported(root, "csv", per_question=True):
        key = row["assignment"], plain(row["student_id"])
        total[key] = total.get(key, 0.0) + float(row["score"])
    for (lab, student), points in total.items():
        assert points == pytest.approx(book.find_submission(lab, student).score, abs=1e-9)


def test_canvas_gets_final_scores_and_points(root: Path, book: Gradebook) -> None:
    points, *rows = exported(root, "canvas")
    assert points["Student"] == "    Points Possible"
    for lab in LABS:
        assert float(points[lab]) == book.find_assignment(lab).max_score
        for row in rows:
            student = plain(row["SIS Login ID"])
            if student == "absent":
                assert row[lab] == ""
            else:
                assert float(row[lab]) == final(book, lab, student)


def test_moodle_gets_final_scores_of_those_who_submitted(root: Path, book: Gradebook) -> None:
    rows = exported(root, "moodle")
    assert {plain(row["Username"]) for row in rows} == set(STUDENTS) - {"absent"}
    for row in rows:
        for lab in LABS:
            assert float(row[lab]) == final(book, lab, plain(row["Username"]))


# --- the forms


ROSTER = Roster(
    [
        Student("ada", canvas_id="101", sis_user_id="S1", sis_login_id="al", section="Mon", idnumber="77"),
        Student("new", "New", "Comer", canvas_id="109"),
    ]
)


def test_canvas_columns_are_the_ones_it_looks_for(root: Path) -> None:
    titles = {"lab90_fake": "Lab 90 (4711)"}
    rows = exported(root, "canvas", roster=ROSTER, titles=titles)
    assert list(rows[0]) == [
        "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 90 (4711)", "lab91_other",
    ]  # fmt: skip
    ada = next(row for row in rows if row["ID"] == "101")
    assert list(ada.values())[:5] == ["Lovelace, Ada", "101", "S1", "al", "Mon"]
    assert next(row for row in rows if row["ID"] == "109")["Student"] == "Comer, New"


def test_moodle_columns_name_the_learner_in_three_ways(root: Path) -> None:
    rows = exported(root, "moodle", roster=ROSTER)
    ada = next(row for row in rows if row["Username"] == "ada")
    assert (ada["ID number"], ada["Email address"]) == ("77", "ada@x.org")


def test_only_what_is_asked_for_is_exported(root: Path) -> None:
    grades = read_grades(Course(root), ["lab91_other"])
    assert list(grades.assignments) == ["lab91_other"]
    assert {question.assignment for question in grades.questions} == {"lab91_other"}


# --- no formula


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\n=1",
        "|x",
        "%x",
        "＝1+1",
        "=cmd|' /C calc'!A0",
    ],
)
def test_a_text_never_begins_like_a_formula(text: str) -> None:
    written = cell(text)
    assert written.startswith("'")
    assert written.isprintable()


@pytest.mark.parametrize("form", ["csv", "canvas", "moodle"])
def test_no_cell_of_a_table_begins_like_a_formula(form: str, root: Path) -> None:
    for row in exported(root, form):
        for value in row.values():
            assert not value.lstrip().startswith(("=", "+", "@", "\t", "\r"))
            assert not value.startswith("-")


@pytest.mark.parametrize("text", ["Ada", "O'Neil, Jr.", "a=b", "Zoë", "x-1"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert cell(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [(7.0, "7"), (0.0, "0"), (7 / 3, "2.3333333333333335"), (0.1 + 0.2, "0.30000000000000004"), (None, "")],
)
def test_a_number_is_written_exactly(value: float | None, written: str) -> None:
    assert cell(value) == written


# --- the command


def test_the_command_writes_the_file_and_names_open_grades(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "grades.csv"
    assert main(["export", "--format", "canvas", "-o", str(path), "--root", str(root)]) == 0
    text = capsys.readouterr().out
    assert f"{path}: {len(STUDENTS) + 1} lines" in text
    assert "need a manual grade" in text
    assert path.read_bytes().startswith(b"Student,ID,SIS User ID,SIS Login ID,Section,")


def test_the_default_place_is_below_the_graders_folder(root: Path) -> None:
    assert main(["export", "--per-question", "--root", str(root)]) == 0
    assert (root / "grader" / "exports" / "questions.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lab77"], "no assignment lab77"),
        (["--format", "moodle", "--per-question"], "scores of whole assignments"),
        (["--title", "lab77=x"], "a title for lab77"),
        (["-o", "/nowhere/x.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_an_error(
    arguments: list[str], words: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *arguments, "--root", str(root)]) == 1
    assert words in capsys.readouterr().err


def test_a_course_without_a_gradebook_gets_none(tmp_path: Path) -> None:
    root = fake_lab.make_course(tmp_path)
    with pytest.raises(ExportError, match="grade an assignment first"):
        read_grades(Course(root))
    assert not (root / "grader" / "gradebook.db").exists()


def test_exporting_changes_nothing_in_the_gradebook(root: Path, tmp_path: Path) -> None:
    path = root / "grader" / "gradebook.db"
    before = path.read_bytes()
    assert main(["export", "-o", str(tmp_path / "x.csv"), "--root", str(root)]) == 0
    assert path.read_bytes() == before
