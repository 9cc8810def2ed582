"""The pages of `grader feedback`: what they show, what they ask for, and when they are made again."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader import demo
from grader.batch import autograde, settings_of
from grader.cli import main
from grader.course import Course
from grader.demo import SampleLab, nbgrader, prepare_root
from grader.feedback_pages import Report, write_pages
from grader.sandbox import REPOSITORY

pytestmark = pytest.mark.slow

LAB = "lab00_orientation"
HARMFUL = (
    "class Bad(str):\n    pass\n\n\ndef {name}(*args, **kwargs):\n"
    "    return '<script src=\"http://evil.example/x.js\"></script>'\n"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class of one lab: right, half, wrong, nothing done, harmful, dead."""
    root = tmp_path_factory.mktemp("class") / "course"
    prepare_root(root, [LAB])
    nbgrader(root, "generate_assignment", LAB)
    released = nbformat.read(root / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    lab = SampleLab(REPOSITORY / "solutions" / LAB, released)
    wanted = ("right", "half", "stub", "fault-1", "exit", "liar")
    samples = [sample for sample in demo.sample_class(lab) if sample.student.split("-", 1)[1] in wanted]
    demo.submit(root, LAB, samples)
    harmful = {
        question: f"{demo.marker_line(lab, question)}\n{HARMFUL.format(name=slot.name)}"
        for question, slot in lab.slots.items()
    }
    demo.submit(root, LAB, [demo.Sample("harmful", "returns markup", lab.notebook(harmful), 0)])
    course = Course(root)
    assert autograde(course, [LAB], 2, settings_of(course)).failed == {}
    assert main(["feedback", "--root", str(root)]) == 0
    return root


def pages(root: Path) -> dict[str, str]:
    found = sorted((root / "grader" / "feedback").glob(f"*/{LAB}/{LAB}.html"))
    return {re.sub(r"^s\d+-", "", path.parents[1].name): path.read_text("utf-8") for path in found}


def again(root: Path) -> Report:
    course = Course(root)
    return write_pages(course, [LAB], settings_of(course), 1)


def pictures(page: str) -> list[str]:
    """The pictures of answers on a page, as SVG texts."""
    shown = page.split("What your answer did:")[1:]
    return [
        base64.b64decode(found.group(1)).decode()
        for part in shown
        if (found := re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', part))
    ]


FETCHED = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href"}


class References(HTMLParser):
    """Everything that a browser would fetch for a page, or run on it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_link = name == "href" and tag != "a"
            if (name in FETCHED or is_link) and not (value or "").startswith(("data:image/", "#")):
                self.found.append(f"{tag} {name}={value}")
            if name.startswith("on"):
                self.found.append(f"{tag} {name}")
        if tag in ("script", "iframe", "object", "embed", "base", "form"):
            self.found.append(tag)


def test_every_graded_submission_has_its_page(root: Path) -> None:
    assert set(pages(root)) == {"right", "half", "stub", "fault-1", "exit", "liar", "harmful"}


def test_a_page_asks_nothing_of_anybody(root: Path) -> None:
    for student, page in pages(root).items():
        parser = References()
        parser.feed(page)
        assert parser.found == [], student
        styles = "".join(re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL))
        assert not re.search(r"url\(\s*['\"]?(?!data:|#)|@import", styles), student


def test_an_answer_that_can_be_asked_has_its_picture(root: Path) -> None:
    shown = {student: len(pictures(page)) for student, page in pages(root).items()}
    questions = len(SampleLab(REPOSITORY / "solutions" / LAB, released_of(root)).slots)
    assert shown["right"] == questions
    assert 0 < shown["half"] < questions
    assert shown["stub"] == 0


def released_of(root: Path) -> nbformat.NotebookNode:
    return nbformat.read(root / "labs" / LAB / f"{LAB}.ipynb", as_version=4)


def test_the_picture_is_of_the_learners_own_answer(root: Path) -> None:
    shown = pages(root)
    right, wrong = pictures(shown["right"]), pictures(shown["fault-1"])
    assert right != wrong


def test_what_an_answer_returns_is_shown_as_text_only(root: Path) -> None:
    page = pages(root)["harmful"]
    assert "<script" not in page
    for picture in pictures(page):
        assert "<script" not in picture


def test_a_page_names_hidden_checks_and_says_no_more(root: Path) -> None:
    checks = SampleLab(REPOSITORY / "solutions" / LAB, released_of(root)).checks.checks
    hidden = [check for check in checks if not check.visible]
    page = pages(root)["fault-1"]
    for check in hidden:
        row = page.split(f"{check.name} (hidden)")[1].split("</tr>")[0]
        text = re.sub(r"<[^>]+>", " ", row)
        assert "given" not in text
        assert "expected" not in text


def test_what_is_up_to_date_is_left_alone(root: Path) -> None:
    before = pages(root)
    report = again(root)
    assert (report.written, report.current, report.failed) == (0, len(before), {})
    assert pages(root) == before


def test_a_comment_or_a_score_by_hand_makes_its_page_again(root: Path) -> None:
    student = next(path.name for path in (root / "grader" / "feedback").iterdir() if "half" in path.name)
    with Gradebook(f"sqlite:///{root}/grader/gradebook.db", "inference") as book:
        submission = book.find_submission_notebook(LAB, LAB, student)
        submission.comments[0].manual_comment = "Look at the units <b>again</b>."
        book.db.commit()
    report = again(root)
    assert (report.written, report.failed) == (1, {})
    assert "Look at the units" in pages(root)["half"]


def test_a_damaged_graded_notebook_stops_no_other(root: Path) -> None:
    (path,) = (root / "grader" / "autograded").glob(f"*stub/{LAB}/{LAB}.ipynb")
    whole, page = path.read_bytes(), pages(root)["stub"]
    path.chmod(0o644)
    path.write_bytes(b"{")
    try:
        report = again(root)
    finally:
        path.write_bytes(whole)
    assert [name.split("-", 1)[1] for name in report.failed] == [f"stub/{LAB}"]
    assert report.current + report.written == len(pages(root)) - 1
    assert pages(root)["stub"] == page


def test_the_stock_command_writes_the_same_page_without_pictures(root: Path) -> None:
    ours = pages(root)
    nbgrader(root, "generate_feedback", LAB, "--force")
    stock = pages(root)
    assert set(stock) == set(ours)
    for student, page in stock.items():
        assert pictures(page) == []
        parser = References()
        parser.feed(page)
        assert parser.found == []
        assert reports(page) == reports(ours[student])


def reports(page: str) -> list[str]:
    """The tables of checks on a page."""
    return re.findall(r"<tr><td>.*?</tr>", page, re.DOTALL)
