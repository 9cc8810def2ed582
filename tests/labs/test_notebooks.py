"""The notebooks themselves: run as a learner runs them, on the tiny model.

Runs of the answered notebooks are in `test_colab.py`; `make test` runs chapters and solutions with nbval.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.validator import Validator
from traitlets.config import Config

from inference_kit.labs.answers import reference_source, stub_source
from inference_kit.labs.build import ROOT, Lab
from inference_kit.labs.gates import LabFiles
from tests.labs.notebooks import LABS, answered, checks_of, name, outputs, released, run, shown


@pytest.fixture(autouse=True)
def _tiny_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INFERENCE_KIT_MODEL", "tiny")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.fixture
def no_widgets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernels of this test cannot import ipywidgets, as in an editor that has no course extra."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "ipywidgets.py").write_text('raise ImportError("not installed")\n', encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(blocked), str(ROOT)]))


# One run shows two things: what an untouched lab says, and that it says so without ipywidgets as well.
@pytest.mark.usefixtures("no_widgets")
@pytest.mark.parametrize("lab", LABS, ids=name)
def test_the_stub_fails_only_at_its_checks_and_says_not_done_yet(lab: Lab, tmp_path: Path) -> None:
    book = run(released(lab), tmp_path, allow_errors=True)
    failing = [cell for cell in book.cells if outputs(cell, "error")]
    assert failing == checks_of(book)
    for cell in failing:
        (error,) = outputs(cell, "error")
        assert error["ename"] == "NotDoneYet"
        assert error["traceback"][0].startswith("not done yet: ")
        assert len(error["traceback"]) == 1
    assert shown(book, "application/vnd.jupyter.widget-view+json") == []


def test_a_wrong_answer_is_called_wrong_and_shows_the_case(tmp_path: Path) -> None:
    files = LabFiles.read(LABS[1])
    answer = next(answer for answer in files.rejects if answer.name == "the last reason is kept")
    book = released(LABS[1])
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


def written(book: Any, folder: Path) -> Path:
    nbformat.write(book, folder / "answered.ipynb")
    return folder / "answered.ipynb"


def test_nbgrader_validate_runs_and_praises_a_fully_answered_release(
    tmp_path: Path, validator: Validator
) -> None:
    said = verdict(validator, written(answered(LABS[0]), tmp_path))
    assert said == "Success! Your notebook passes all the tests."


def test_nbgrader_validate_names_the_check_that_fails_and_no_other(
    tmp_path: Path, validator: Validator
) -> None:
    cell = LabFiles.read(LABS[0]).cells["q2"]
    said = verdict(validator, written(answered(LABS[0], q2=stub_source(cell)), tmp_path))
    assert "VALIDATION FAILED ON 1 CELL(S)" in said
    assert 'check("lab00.q2")' in said and 'check("lab00.q1")' not in said


# --- the fault of lab 01


def test_the_fault_of_lab01_shows_where_the_text_says(tmp_path: Path) -> None:
    lab = LABS[1]
    text = next(cell.source for cell in released(lab).cells if cell.source.startswith("Try a fault."))
    assert "write `pass` in place of `request.release()`" in text and "`settle_once` is wrong" in text
    source = reference_source(LabFiles.read(lab).cells["q5"])
    assert source.count("    request.release()\n") == 1
    book = answered(lab, q5=source.replace("request.release()", "pass"))
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
    book = run(answered(LABS[1], q5=source), tmp_path, allow_errors=True)
    assert [cell.source for cell in book.cells if outputs(cell, "error")] == ['check("lab01.q5")']


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
