"""The notebooks themselves: run as a learner runs them, on the tiny model."""

from __future__ import annotations

import io
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.utils import determine_grade
from nbgrader.validator import Validator
from traitlets.config import Config

from inference_kit.labs.answers import reference_source, stub_source
from inference_kit.labs.build import ROOT, Lab, find_labs
from inference_kit.labs.gates import LabFiles

LABS = find_labs()


def name(value: object) -> str:
    return value.name if isinstance(value, Lab) else str(value)


@pytest.fixture(autouse=True)
def _tiny_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INFERENCE_KIT_MODEL", "tiny")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def run(book: Any, folder: Path, allow_errors: bool = False) -> Any:
    client = NotebookClient(
        book, timeout=240, kernel_name="python3", allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute()
    return book


def outputs(cell: Any, kind: str) -> list[Any]:
    return [output for output in cell.get("outputs", []) if output["output_type"] == kind]


def checks_of(book: Any) -> list[Any]:
    return [cell for cell in book.cells if cell.cell_type == "code" and cell.source.startswith('check("')]


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_the_solution_runs_and_every_check_is_done_with_a_picture(lab: Lab, tmp_path: Path) -> None:
    book = run(nbformat.read(ROOT / "solutions" / lab.name / f"{lab.name}.ipynb", 4), tmp_path)
    for cell in checks_of(book):
        (shown,) = outputs(cell, "display_data")
        assert shown["data"]["text/plain"].startswith("done: ")
        assert "data:image/svg+xml;base64," in shown["data"]["text/html"]


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_the_stub_fails_only_at_its_checks_and_says_not_done_yet(lab: Lab, tmp_path: Path) -> None:
    book = nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", 4)
    run(book, tmp_path, allow_errors=True)
    failing = [cell for cell in book.cells if outputs(cell, "error")]
    assert failing == checks_of(book)
    for cell in failing:
        (error,) = outputs(cell, "error")
        assert error["ename"] == "NotDoneYet"
        assert error["traceback"][0].startswith("not done yet: ")
        assert len(error["traceback"]) == 1


def test_a_wrong_answer_is_called_wrong_and_shows_the_case(tmp_path: Path) -> None:
    files = LabFiles.read(LABS[1])
    answer = next(answer for answer in files.rejects if answer.name == "the last reason is kept")
    book = nbformat.read(ROOT / "labs" / LABS[1].name / f"{LABS[1].name}.ipynb", 4)
    for cell in book.cells:
        if cell.get("id") == "lab01-q5-answer":
            cell.source = answer.source
    wanted = {"lab01-q5-answer", "lab01-q5"}
    book.cells = [cell for cell in book.cells if "import check" in cell.source or cell.get("id") in wanted]
    run(book, tmp_path, allow_errors=True)
    (error,) = outputs(book.cells[-1], "error")
    assert error["ename"] == "CheckNotPassed"
    text = error["traceback"][0]
    assert text.startswith("wrong: lab01.q5, check first_call_wins")
    assert "given:" in text and "expected:" in text and "got:" in text and "remember:" in text


# --- what nbgrader says of a notebook


@pytest.fixture
def validator(tmp_path: Path) -> Validator:
    """nbgrader's own, as `nbgrader validate` and the button of JupyterLab run it."""
    config = Config()
    config.KernelManager.transport = "ipc"
    config.ExecutePreprocessor.timeout = 240
    return Validator(config=config)


def verdict(validator: Validator, path: Path) -> str:
    """What nbgrader prints after it has run the notebook."""
    validator.stream = io.StringIO()
    validator.validate_and_print(str(path))
    return validator.stream.getvalue().strip()


def answered(lab: Lab, folder: Path, **instead: str) -> Path:
    """The release with every answer filled in: the reference, or the text given for a question."""
    book = nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", 4)
    cells = {
        f"{lab.lab}-{question}-answer": (question, cell)
        for question, cell in LabFiles.read(lab).cells.items()
    }
    for cell in book.cells:
        if cell.id in cells:
            question, source = cells[cell.id]
            cell.source = instead.get(question, reference_source(source))
        if cell.id == f"{lab.lab}-reflection":
            cell.source = "One process owns the end; the other one sends it what it saw."
    nbformat.write(book, folder / "answered.ipynb")
    return folder / "answered.ipynb"


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_nbgrader_validate_succeeds_on_a_fully_answered_release(
    lab: Lab, tmp_path: Path, validator: Validator
) -> None:
    said = verdict(validator, answered(lab, tmp_path))
    assert said == "Success! Your notebook passes all the tests."


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_nbgrader_gives_full_points_without_a_warning_for_every_check_that_is_done(
    lab: Lab, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    book = run(nbformat.read(answered(lab, tmp_path), 4), tmp_path)
    caplog.clear()
    for cell in checks_of(book):
        points = cell.metadata.nbgrader.points
        assert determine_grade(cell, logging.getLogger("grade")) == (points, points)
    assert [record.getMessage() for record in caplog.records if record.name == "grade"] == []


def test_nbgrader_validate_names_the_check_that_fails_and_no_other(
    tmp_path: Path, validator: Validator
) -> None:
    cell = LabFiles.read(LABS[0]).cells["q2"]
    said = verdict(validator, answered(LABS[0], tmp_path, q2=stub_source(cell)))
    assert "VALIDATION FAILED ON 1 CELL(S)" in said
    assert 'check("lab00.q2")' in said and 'check("lab00.q1")' not in said


# --- the fault of lab 01


def test_the_fault_of_lab01_shows_where_the_text_says(tmp_path: Path) -> None:
    lab = LABS[1]
    text = next(
        cell.source
        for cell in nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", 4).cells
        if cell.source.startswith("Try a fault.")
    )
    assert "write `pass` in place of `request.release()`" in text and "`settle_once` is wrong" in text
    source = reference_source(LabFiles.read(lab).cells["q5"])
    assert source.count("    request.release()\n") == 1
    book = nbformat.read(answered(lab, tmp_path, q5=source.replace("request.release()", "pass")), 4)
    run(book, tmp_path, allow_errors=True)
    failing = [cell.source for cell in book.cells if outputs(cell, "error")]
    assert failing == ['check("lab01.q5")']
    (cell,) = [cell for cell in book.cells if cell.source.endswith(".worked_lifecycles()")]
    index = book.cells.index(cell)
    assert book.cells[index + 1].source.startswith("Try a fault.")
    assert cell.source.startswith("plug("), "the cell must plug in again, or the fault does not get there"
    (said,) = outputs(cell, "stream")
    assert "settle_once: wrong" in said["text"]
    (shown,) = outputs(cell, "execute_result")
    rows = [
        row.split()
        for row in shown["data"]["text/plain"].split("\n")
        if "finished" in row or "cancelled" in row
    ]
    assert [row[-2:] for row in rows] == [["0", "3"], ["0", "2"]]


def test_an_end_that_only_says_true_does_not_hang_the_notebook(tmp_path: Path) -> None:
    source = stub_source(LabFiles.read(LABS[1]).cells["q5"]).replace(
        "raise NotImplementedError", "return True"
    )
    book = run(nbformat.read(answered(LABS[1], tmp_path, q5=source), 4), tmp_path, allow_errors=True)
    assert [cell.source for cell in book.cells if outputs(cell, "error")] == ['check("lab01.q5")']


@pytest.mark.parametrize("chapters", [sorted((ROOT / "course").glob("*.ipynb"))], ids=["course"])
def test_every_chapter_runs_under_nbval(chapters: list[Path], tmp_path: Path) -> None:
    assert len(chapters) >= 3
    copies = [shutil.copy(chapter, tmp_path) for chapter in chapters]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval-lax",
        "--nbval-cell-timeout=240",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), *copies],
        cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def in_a_fresh_process(program: str, folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_visible_checks_work_with_no_file_beside_them(tmp_path: Path) -> None:
    program = (
        "from inference_kit.labs import check\n"
        "def gap(start, end):\n    return None if None in (start, end) else end - start\n"
        "check('lab00.q1')\n"
    )
    assert in_a_fresh_process(program, tmp_path).startswith("done: lab00.q1")


def test_a_lab_kernel_imports_no_torch_and_no_widgets(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "import inference_kit.labs, inference_kit.lifecycle, inference_kit.viz\n"
        "from inference_kit.labs import check, hint, plug, show\n"
        "show('lab01.q1')\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'ipywidgets', 'numpy', 'jupytext', 'nbgrader'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert in_a_fresh_process(program, tmp_path).strip() == "[]"
