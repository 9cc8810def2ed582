"""A small lab of its own, so that grading is tested apart from the labs of the course."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ASSIGNMENT = "lab90_fake"
REPOSITORY = Path(__file__).resolve().parents[2]

CHECKS = """
from inference_kit.labs.checking import Callback, CheckSet, expect, expect_raises

CHECKS = CheckSet("lab90")


@CHECKS.check("q1", points=2, misconception="Doubling is not squaring.")
def squares_three(s, rng):
    expect(s.call("square", 3), 9, given="square(3)")


@CHECKS.check("q1", points=3, visible=False, misconception="Negative numbers have squares too.")
def squares_any_number(s, rng):
    for _ in range(5):
        number = rng.randint(-(10**6), 10**6)
        expect(s.call("square", number), number * number, given=number)


@CHECKS.check("q2", points=1, misconception="A counter adds up.")
def counts(s, rng):
    counter = s.new("Counter", None)
    s.method(counter, "add", 2)
    s.method(counter, "add", 3)
    expect(s.attr(counter, "total"), 5)


@CHECKS.check("q2", points=2, visible=False, misconception="Tell the listener what was added.")
def tells_its_listener(s, rng):
    heard = []
    counter = s.new("Counter", Callback(heard.append))
    s.method(counter, "add", 4)
    expect(heard, [4])


@CHECKS.check("q3", points=2, visible=False, misconception="Zero has no inverse.")
def refuses_zero(s, rng):
    expect_raises(lambda: s.call("inverse", 0), "ValueError")
    expect(s.call("inverse", 4), 0.25)
"""

REFERENCE = {
    "q1": "def square(x):\n    return x * x\n",
    "q2": (
        "class Counter:\n"
        "    def __init__(self, listener=None):\n"
        "        self.total = 0\n"
        "        self.listener = listener\n"
        "    def add(self, n):\n"
        "        self.total += n\n"
        "        if self.listener:\n"
        "            self.listener(n)\n"
    ),
    "q3": "def inverse(x):\n    if x == 0:\n        raise ValueError('zero')\n    return 1 / x\n",
}
STUB_HEAD = {"q1": "def square(x):", "q2": "class Counter:", "q3": "def inverse(x):"}
POINTS = {"q1": 5, "q2": 3, "q3": 2}
FULL = 10


def marker(question: str) -> str:
    """The line by which an answer cell is known."""
    return f"# lab90/{question} — keep this line"


def answer_source(question: str, source: str | None = None) -> str:
    """The text of an answer cell with the reference, or with `source`."""
    return f"{marker(question)}\n{REFERENCE[question] if source is None else source}"


def _nbgrader(grade_id: str, **flags: Any) -> dict[str, Any]:
    metadata = {"schema_version": 3, "grade_id": grade_id, "grade": False, "solution": False, "locked": False}
    return {"nbgrader": {**metadata, "task": False, **flags}}


def source_notebook() -> NotebookNode:
    """The instructor's source: solutions between the markers, checks, one reflection."""
    cells = [
        new_code_cell("from inference_kit.labs import check\nimport math\nGIVEN = 7", id="setup"),
        new_markdown_cell("# Fake lab\n\n<details><summary>hint</summary>think</details>", id="title"),
    ]
    for question, head in STUB_HEAD.items():
        body = REFERENCE[question].split("\n", 1)[1]
        source = (
            f"{marker(question)}\n{head}\n    # TODO 1: write it\n"
            f"    ### BEGIN SOLUTION\n{body}    ### END SOLUTION"
        )
        answer = new_code_cell(source, id=f"{question}-answer")
        answer.metadata.update(_nbgrader(f"lab90-{question}-answer", solution=True))
        test = new_code_cell(f'check("lab90.{question}")', id=f"{question}-check")
        test.metadata.update(_nbgrader(f"lab90-{question}", grade=True, locked=True, points=POINTS[question]))
        cells += [answer, test]
    reflection = new_markdown_cell("Write your answer here.", id="reflection")
    reflection.metadata.update(_nbgrader("lab90-reflection", grade=True, solution=True, points=1))
    notebook = new_notebook(cells=[*cells, reflection])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def released() -> NotebookNode:
    """The notebook a learner gets, made by the steps that nbgrader runs."""
    from traitlets.config import Config

    from grader.course import RELEASE_STEPS

    config = Config()
    config.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
    notebook = source_notebook()
    for step in RELEASE_STEPS:
        notebook, _ = step(config=config).preprocess(notebook, {})
    return notebook


def find_cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """The first cell with that grade id."""
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def submission(**answers: str) -> NotebookNode:
    """A released notebook with the reference answers, or with `q1="..."` instead of one."""
    notebook = released()
    for question in REFERENCE:
        cell = find_cell(notebook, f"lab90-{question}-answer")
        cell.source = answer_source(question, answers.get(question))
    return notebook


def code(source: str) -> NotebookNode:
    """A cell that a learner added."""
    return new_code_cell(source)


def make_course(root: Path) -> Path:
    """A course root with the fake lab and the course's own nbgrader configuration."""
    folder = root / "solutions" / ASSIGNMENT
    folder.mkdir(parents=True)
    (root / "grader").mkdir()
    (root / "labs").mkdir()
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")
    nbformat.write(source_notebook(), folder / f"{ASSIGNMENT}.ipynb")
    return root


def submit(root: Path, student: str, content: NotebookNode | bytes | str) -> Path:
    """Write a submission of the fake lab and return the path of its notebook."""
    path = root / "grader" / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    return path
