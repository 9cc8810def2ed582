"""`progress` and the log of attempts: honest words, off by default, deletable, harmless."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inference_kit.labs import attempts, check, forget_attempts, log_attempts, progress
from inference_kit.labs.answers import reference_source, stub_source
from inference_kit.labs.attempt_log import data_folder, log_file, read_attempts
from inference_kit.labs.build import find_labs
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.notebook import CheckNotPassed, NotDoneYet, UnknownQuestion

FOLDER_AT_START = os.environ["INFERENCE_KIT_DATA"]
CELLS = LabFiles.read(find_labs()[0]).cells
RIGHT = {"gap": lambda start, end: None if start is None or end is None else end - start}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for each test, on every system."""
    monkeypatch.delenv("INFERENCE_KIT_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    yield tmp_path


def names(**cells: str) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "learner"}
    for source in cells.values():
        exec(source, found)
    return found


def words(table: Any, column: int) -> list[str]:
    return [line.split("  ")[column].strip() for line in shrink(table.text)]


def shrink(text: str) -> list[str]:
    import re

    return [re.sub(r" {2,}", "  ", line) for line in text.split("\n")[2:] if "  " in line]


def test_the_words_are_those_of_the_checks() -> None:
    assert words(progress("lab00", {}), 1) == ["not done yet", "not done yet"]
    stubs = names(**{question: stub_source(cell) for question, cell in CELLS.items()})
    assert words(progress("lab00", stubs), 1) == ["not done yet", "not done yet"]
    right = names(**{question: reference_source(cell) for question, cell in CELLS.items()})
    assert words(progress("lab00", right), 1) == ["done", "done"]
    wrong = {**right, "gap": lambda start, end: 7}
    assert words(progress("lab00", wrong), 1) == ["wrong", "done"]


def test_an_unknown_lab_is_named() -> None:
    with pytest.raises(UnknownQuestion, match="lab01"):
        progress("lab77", {})


def test_without_a_name_it_takes_the_labs_whose_answer_cells_were_run_here() -> None:
    cells = [f"# {lab}/q1 — keep this line\npass" for lab in ("lab01", "lab00", "lab01")]
    questions = words(progress(namespace={"In": ["", *cells]}), 0)
    assert questions == ["lab00.q1", "lab00.q2", *(f"lab01.q{number}" for number in range(1, 7))]


@pytest.mark.parametrize(
    "names",
    [{}, {"In": []}, {"In": ["x = 'lab00/q1'"]}, {"In": ["# lab77/q1 — keep this line"]}, {"In": [None]}],
)
def test_where_no_answer_cell_was_run_it_is_the_view_over_all_labs(names: dict[str, Any]) -> None:
    assert progress(namespace=names).alt.startswith("Progress in all labs")


def test_everything_is_the_view_over_all_labs_also_inside_a_lab() -> None:
    here = {"In": ["# lab00/q1 — keep this line"]}
    assert progress(namespace=here).alt.startswith("Progress in lab00")
    assert progress(namespace=here, everything=True).alt.startswith("Progress in all labs")


def test_it_writes_nothing_into_the_log() -> None:
    log_attempts()
    progress("lab00", RIGHT)
    assert read_attempts() == ([], 0)


def run_check_cell(namespace: dict[str, Any]) -> None:
    try:
        check("lab00.q1", namespace)
    except CheckNotPassed:
        return


def test_the_log_is_off_until_it_is_switched_on(home: Path) -> None:
    run_check_cell(RIGHT)
    assert list(home.rglob("*")) == []


def test_a_line_says_what_the_check_said_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    log_attempts()
    run_check_cell({})
    run_check_cell({"gap": lambda start, end: 7})
    run_check_cell(RIGHT)
    entries = [json.loads(line) for line in log_file().read_text("utf-8").splitlines()]
    assert [entry["word"] for entry in entries] == ["not done yet", "wrong", "done"]
    assert {frozenset(entry) for entry in entries} == {
        frozenset({"at", "question", "word", "passed", "visible"})
    }
    assert str(log_file()) in capsys.readouterr().out
    assert "done" in attempts().text


def test_the_view_over_all_labs_takes_the_last_word() -> None:
    log_attempts()
    run_check_cell({})
    run_check_cell(RIGHT)
    assert shrink(progress().text)[0].split("  ")[:2] == ["lab00", "1 of 2"]


def test_forgetting_deletes_the_file_and_ends_the_log() -> None:
    log_attempts()
    run_check_cell(RIGHT)
    forget_attempts()
    run_check_cell(RIGHT)
    assert not log_file().exists()
    log_attempts()
    log_attempts(False)
    assert not log_file().exists()


def test_lines_that_cannot_be_read_are_passed_over_and_counted() -> None:
    log_attempts()
    run_check_cell(RIGHT)
    with log_file().open("a", encoding="utf-8") as file:
        file.write('half a line\n{"at": 1}\n')
        file.write('{"at": 1e99, "question": "q", "word": "done", "passed": 1, "visible": 1}\n')
    found, broken = read_attempts()
    assert (len(found), broken) == (1, 3)
    assert "3 lines could not be read" in attempts().text


def test_a_log_that_cannot_be_written_or_read_stops_no_check() -> None:
    log_file().mkdir(parents=True)
    check("lab00.q1", RIGHT)
    with pytest.raises(NotDoneYet):
        check("lab00.q1", {})
    assert read_attempts() == ([], 0)


@pytest.mark.parametrize(
    ("system", "part"), [("linux", ""), ("win32", ""), ("darwin", "Library/Application Support")]
)
def test_each_system_has_its_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, system: str, part: str
) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert data_folder() == home / part / "inference_kit"


def test_a_folder_can_be_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERENCE_KIT_DATA", str(home / "mine"))
    log_attempts()
    run_check_cell(RIGHT)
    assert [path.relative_to(home).as_posix() for path in home.rglob("*.jsonl")] == ["mine/attempts.jsonl"]


def test_where_no_log_can_be_kept_a_sentence_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "a file").touch()
    monkeypatch.setenv("INFERENCE_KIT_DATA", str(home / "a file"))
    log_attempts()
    run_check_cell(RIGHT)
    assert "the log cannot be kept here" in capsys.readouterr().out
    assert read_attempts() == ([], 0)


def test_a_line_that_was_cut_short_does_not_swallow_the_next_one() -> None:
    log_attempts()
    run_check_cell(RIGHT)
    whole = log_file().read_bytes()
    log_file().write_bytes(whole + whole[:20])
    run_check_cell(RIGHT)
    found, broken = read_attempts()
    assert (len(found), broken) == (2, 1)


def test_the_tests_of_the_kit_leave_the_learner_s_log_alone() -> None:
    assert os.devnull == FOLDER_AT_START


def test_an_empty_log_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert attempts() is None
    assert "off; log_attempts() switches it on" in capsys.readouterr().out
    log_attempts()
    assert attempts() is None
    assert "on and empty" in capsys.readouterr().out
