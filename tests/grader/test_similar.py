"""Similar submissions: copies are listed whatever was done to them, work of one's own is not."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_solution

from grader import demo
from grader.cli import main
from grader.course import Course
from grader.demo import SampleLab
from grader.sandbox import REPOSITORY
from grader.similar import REFERENCE, THRESHOLD, Comparison, compare
from inference_kit.labs.answers import reference_source
from inference_kit.labs.build import Lab, find_labs

LABS = find_labs()
LAB = "lab02_metrics"


def sample_of(lab: Lab) -> SampleLab:
    released = nbformat.read(REPOSITORY / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4)
    return SampleLab(lab.folder, released)


@pytest.fixture(scope="module")
def lab() -> SampleLab:
    return sample_of(next(lab for lab in LABS if lab.name == LAB))


def class_of(root: Path, lab: str, notebooks: dict[str, NotebookNode]) -> Course:
    """A course in which these were handed in."""
    demo.prepare_root(root, [lab])
    demo.submit(root, lab, [demo.Sample(name, "", book, 0) for name, book in notebooks.items()])
    return Course(root)


def pairs(found: Comparison) -> set[frozenset[str]]:
    return {frozenset((pair.first, pair.second)) for pair in found.pairs}


def renamed(source: str) -> str:
    """With other names for all local things, other comments and another layout."""
    marker, _, body = source.partition("\n")
    body = re.sub(r"(?m)#.*$", "# mine", body)
    names = sorted(set(re.findall(r"(?m)^ +(\w+) = ", body)) | set(re.findall(r"for (\w+) in", body)))
    for number, name in enumerate(names):
        body = re.sub(rf"(?<![\w.'\"]){name}(?![\w'\"])", f"my_{number}", body)
    return f"{marker}\n# written by me\n{body}\n\n"


def disguised(lab: SampleLab) -> dict[str, NotebookNode]:
    """Copies of the first right answers, each hidden in another way."""
    right = lab.right(0)
    shuffled = lab.notebook(right)
    answers = [cell for cell in shuffled.cells if is_solution(cell)]
    rest = [cell for cell in shuffled.cells if not is_solution(cell)]
    random.Random(3).shuffle(answers)
    shuffled.cells = [*rest, *answers]
    padded = lab.notebook(right)
    padded.cells.insert(
        3, new_code_cell("\n".join(f"def extra_{n}(a):\n    return a + {n}\n" for n in range(30)))
    )
    stripped = lab.notebook(right)
    for cell in stripped.cells:
        cell.metadata.clear()
    half = dict(list(right.items())[: len(right) // 2])
    return {
        "renamed": lab.notebook({question: renamed(text) for question, text in right.items()}),
        "shuffled": shuffled,
        "padded": padded,
        "stripped": stripped,
        "half": lab.notebook(half),
    }


def test_a_copy_is_listed_whatever_was_done_to_it(lab: SampleLab, tmp_path: Path) -> None:
    copies = disguised(lab)
    class_ = {"original": lab.notebook(lab.right(0)), "own": lab.notebook(lab.right(1)), **copies}
    found = pairs(compare(class_of(tmp_path / "c", LAB, class_), LAB, THRESHOLD))
    for name in copies:
        assert frozenset(("original", name)) in found, name
    assert not any("own" in pair for pair in found)


def test_a_copy_of_the_kits_code_is_listed(lab: SampleLab, tmp_path: Path) -> None:
    book = nbformat.read(REPOSITORY / "solutions" / LAB / f"{LAB}.ipynb", as_version=4)
    cells = {cell.metadata.nbgrader.grade_id: cell.source for cell in book.cells if is_solution(cell)}
    pasted = {
        question: renamed(reference_source(cells[slot.grade_id])) for question, slot in lab.slots.items()
    }
    class_ = {"pasted": lab.notebook(pasted), "own": lab.notebook(lab.right(1))}
    found = compare(class_of(tmp_path / "c", LAB, class_), LAB, THRESHOLD)
    assert pairs(found) == {frozenset(("pasted", REFERENCE))}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_right_answers_written_apart_are_not_listed(lab: Lab, tmp_path: Path) -> None:
    """Each question's right answers are of different structure, so no two learners copied."""
    sample = sample_of(lab)
    variants = min(len(answers) for answers in sample.accept.values())
    class_ = {f"s{number}": sample.notebook(sample.right(number)) for number in range(variants)}
    found = compare(class_of(tmp_path / "c", lab.name, class_), lab.name, THRESHOLD)
    assert found.pairs == []


def test_who_wrote_nothing_is_left_out_with_a_reason(lab: SampleLab, tmp_path: Path) -> None:
    course = class_of(
        tmp_path / "c", LAB, {"stub": lab.notebook({}), "stub-too": copy.deepcopy(lab.notebook({}))}
    )
    folder = course.folder("submitted", "broken", LAB)
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text("no notebook")
    found = compare(course, LAB, 0.0)
    assert found.pairs == []
    assert found.compared == 0
    assert set(found.left_out) == {"stub", "stub-too", "broken"}
    assert "not JSON" in found.left_out["broken"]


def test_the_command_prints_a_table_and_says_what_it_is_not(
    lab: SampleLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class_ = {name: lab.notebook(lab.right(0)) for name in ("ada", "bob")}
    course = class_of(tmp_path / "c", LAB, class_)
    before = {path: path.stat().st_mtime_ns for path in course.root.rglob("*")}
    assert main(["similar", LAB, "--root", str(course.root)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"100% +\d+  ada \| bob", text)
    assert "not a verdict" in text
    assert {path: path.stat().st_mtime_ns for path in course.root.rglob("*")} == before


def test_an_unknown_lab_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = class_of(tmp_path / "c", LAB, {})
    assert main(["similar", "lab77", "--root", str(course.root)]) == 1
    assert "lab77" in capsys.readouterr().err
