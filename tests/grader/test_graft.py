"""Grafting: each rule by which an answer is found, and what of a submission never counts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from grader.graft import graft, slots_of
from grader.submission import SubmittedCell
from tests.grader import fake_lab
from tests.grader.grading import grafted

Q1 = "lab90-q1-answer"
RIGHT = fake_lab.answer_source("q1")
OTHER = fake_lab.answer_source("q1", "def square(x):\n    return x ** 2\n")
STUB = fake_lab.find_cell(fake_lab.released(), Q1).source
BARE = fake_lab.REFERENCE["q1"]


def code_cell(source: str, grade_id: str = "", cell_id: str = "") -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "id": cell_id}


def answer_in(*cells: dict[str, Any]) -> str:
    return str(fake_lab.find_cell(grafted({"cells": list(cells)}).notebook, Q1).source)


def found_by(*cells: dict[str, Any]) -> str:
    return grafted({"cells": list(cells)}).findings[0].found_by


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        (code_cell(RIGHT), "marker"),
        (code_cell("import math\n\n" + RIGHT), "marker"),
        (code_cell(BARE, grade_id=Q1), "grade id"),
        (code_cell(BARE, cell_id="q1-answer"), "cell id"),
        (code_cell(BARE), "function name"),
    ],
)
def test_an_answer_is_found_by(cell: dict[str, Any], rule: str) -> None:
    assert found_by(cell) == rule
    assert answer_in(cell) == cell["source"]


def test_the_marker_wins_over_the_grade_id() -> None:
    assert answer_in(code_cell(OTHER, grade_id="lab90-q2-answer"), code_cell(BARE, grade_id=Q1)) == OTHER


def test_the_marker_is_found_in_a_cell_whose_type_was_changed() -> None:
    assert answer_in({"cell_type": "markdown", "source": RIGHT, "metadata": {}}) == RIGHT


def test_of_duplicates_the_last_answer_counts() -> None:
    assert answer_in(code_cell(RIGHT), code_cell(OTHER)) == OTHER


def test_a_stub_after_the_answer_does_not_hide_it() -> None:
    assert answer_in(code_cell(RIGHT), code_cell(STUB)) == RIGHT


def test_an_answer_in_a_new_cell_is_found_though_the_stub_is_still_there() -> None:
    cells = (code_cell(STUB, grade_id=Q1), code_cell(BARE))
    assert answer_in(*cells) == BARE
    assert found_by(*cells) == "function name"


def test_comments_alone_leave_a_stub_a_stub() -> None:
    commented = STUB.replace("# TODO 1", "# I will do this tomorrow. TODO 1")
    assert answer_in(code_cell(RIGHT), code_cell(commented)) == RIGHT


def test_a_missing_answer_keeps_the_stub_and_is_flagged() -> None:
    result = grafted({"cells": [code_cell("x = 1")]})
    assert fake_lab.find_cell(result.notebook, Q1).source == STUB
    assert any(flag.startswith(f"missing {Q1}") for flag in result.flags)


def test_duplicates_of_an_answer_and_of_a_check_are_flagged() -> None:
    notebook = fake_lab.submission()
    notebook.cells += [copy.deepcopy(fake_lab.find_cell(notebook, name)) for name in (Q1, "lab90-q1")]
    flags = grafted(notebook).flags
    assert any(flag.startswith(f"duplicate {Q1}") for flag in flags)
    assert any(flag.startswith("duplicate lab90-q1:") for flag in flags)


def test_a_clean_submission_has_no_flags() -> None:
    assert grafted(fake_lab.submission()).flags == []


def test_a_deleted_check_comes_back() -> None:
    notebook = fake_lab.submission()
    notebook.cells.remove(fake_lab.find_cell(notebook, "lab90-q1"))
    result = grafted(notebook)
    assert fake_lab.find_cell(result.notebook, "lab90-q1").source == 'check("lab90.q1")'
    assert "missing lab90-q1: the check was restored" in result.flags


def test_a_written_answer_is_grafted_by_its_grade_id_or_cell_id() -> None:
    for cell in ({"metadata": {"nbgrader": {"grade_id": "lab90-reflection"}}}, {"id": "reflection"}):
        text = {"cell_type": "markdown", "source": "I learned a lot.", **cell}
        result = grafted({"cells": [text]})
        assert fake_lab.find_cell(result.notebook, "lab90-reflection").source == "I learned a lot."


def test_an_untouched_written_answer_keeps_its_checksum() -> None:
    cell = fake_lab.find_cell(grafted(fake_lab.released()).notebook, "lab90-reflection")
    assert cell.metadata.nbgrader["checksum"] == compute_checksum(cell)


def test_only_sources_of_answer_cells_differ_from_the_instructors_copy() -> None:
    notebook = fake_lab.submission(q1="def square(x): return 1")
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.get("grade"):
            cell.metadata.nbgrader["points"] = 500
            cell.source = "pass"
    result = grafted(notebook).notebook
    for ours, original in zip(result.cells, fake_lab.released().cells, strict=True):
        assert ours.metadata == original.metadata
        if not original.metadata.get("nbgrader", {}).get("solution"):
            assert ours == original


def test_helper_cells_are_kept_in_their_order_around_the_answers() -> None:
    program = grafted({"cells": [code_cell("A = 1"), code_cell(RIGHT), code_cell("B = 2")]}).program
    assert program[:3] == [{"helper": "A = 1"}, {"answer": Q1}, {"helper": "B = 2"}]


def test_stubs_checks_and_given_cells_are_no_helpers() -> None:
    notebook = fake_lab.released()
    notebook.cells += copy.deepcopy(notebook.cells)
    assert all("answer" in block for block in grafted(notebook).program)


def test_one_cell_that_holds_two_answers_serves_both_questions() -> None:
    both = RIGHT + "\n" + fake_lab.answer_source("q3")
    result = grafted({"cells": [code_cell(both)]})
    assert [finding.found_by for finding in result.findings][:3:2] == ["marker", "marker"]


# --- properties -----------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
nbgrader_values = st.fixed_dictionaries(
    {},
    optional={
        "grade": st.booleans(),
        "solution": st.booleans(),
        "locked": st.booleans(),
        "points": st.integers(-5, 500),
        "schema_version": st.integers(0, 9),
        "checksum": st.text(max_size=8),
        "task": st.booleans(),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_submitted_metadata_and_outputs_never_change_what_is_judged(data: st.DataObject) -> None:
    notebook = fake_lab.submission()
    plain = grafted(notebook)
    tampered = copy.deepcopy(notebook)
    tampered.metadata = data.draw(st.dictionaries(st.text(max_size=8), json_values, max_size=3))
    for cell in tampered.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell["metadata"] = data.draw(st.dictionaries(st.text(max_size=8), json_values, max_size=2))
        if grade_id is not None:
            cell["metadata"]["nbgrader"] = {**data.draw(nbgrader_values), "grade_id": grade_id}
        cell["outputs"] = data.draw(json_values)
    result = grafted(tampered)
    assert result.notebook == plain.notebook
    assert result.program == plain.program


@settings(max_examples=60, deadline=None)
@given(
    sources=st.lists(st.sampled_from([RIGHT, OTHER, STUB, BARE, "", "x = 1", "# lab90/q9 — keep this line"]))
)
def test_every_slot_gets_one_finding_and_every_block_is_known(sources: list[str]) -> None:
    instructor: NotebookNode = fake_lab.released()
    cells = tuple(SubmittedCell(index, "code", source) for index, source in enumerate(sources))
    result = graft(instructor, cells)
    ids = [slot.grade_id for slot in slots_of(instructor)]
    assert [finding.slot.grade_id for finding in result.findings] == ids
    answers = [block["answer"] for block in result.program if "answer" in block]
    assert sorted(answers) == sorted(grade_id for grade_id in ids if grade_id != "lab90-reflection")
