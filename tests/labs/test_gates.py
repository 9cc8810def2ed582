"""Checks that are themselves checked: every gate, for every question of every lab."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from inference_kit.labs.build import Lab, find_labs
from inference_kit.labs.checking import Check, CheckSet
from inference_kit.labs.gates import LabFiles, examine, failed_names, mutants, run_answer
from inference_kit.labs.masters import contract_rows

LABS = find_labs()
QUESTIONS = [(lab, question) for lab in LABS for question in lab.checks().questions]


def name(value: object) -> str:
    return value.name if isinstance(value, Lab) else str(value)


def test_there_are_labs() -> None:
    assert [lab.lab for lab in LABS][:2] == ["lab00", "lab01"]


@pytest.mark.parametrize(("lab", "question"), QUESTIONS, ids=name)
def test_every_gate_is_green(lab: Lab, question: str) -> None:
    report = examine(LabFiles.read(lab), question)
    assert report.problems == []


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_every_check_says_what_it_is_about(lab: Lab) -> None:
    for check in lab.checks().checks:
        assert check.misconception, check.name
        assert check.points > 0, check.name


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_every_question_has_a_visible_and_a_hidden_check(lab: Lab) -> None:
    checks = lab.checks()
    for question in checks.questions:
        kinds = {check.visible for check in checks.of(question)}
        assert kinds == {True, False}, question


def test_an_answer_that_loops_is_stopped() -> None:
    lab = LABS[0]
    results = run_answer(lab.checks(), "q1", "def gap(start, end):\n    while True:\n        pass\n")
    assert {result.status for result in results} == {"timeout"}


def test_an_answer_that_catches_everything_and_loops_is_stopped() -> None:
    lab = LABS[0]
    lines = ["def gap(start, end):", "    while True:", "        try:", "            x = 1"]
    source = "\n".join([*lines, "        except Exception:", "            pass"])
    assert {result.status for result in run_answer(lab.checks(), "q1", source)} == {"timeout"}


def test_a_cell_that_raises_loses_its_question_only() -> None:
    lab = LABS[0]
    assert len(failed_names(run_answer(lab.checks(), "q1", "1 / 0"))) == len(lab.checks().of("q1"))


DATA_CLASS = """from dataclasses import dataclass


@dataclass
class Gap:
    start: float
    end: float


def gap(start, end):
    return Gap(start, end).end - Gap(start, end).start
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"], ids=["now", "future"])
def test_an_answer_may_hold_a_data_class(future: str) -> None:
    """A gate runs a cell as a notebook does: under the name `__main__`, with its own `__future__` only."""
    results = run_answer(LABS[0].checks(), "q1", future + DATA_CLASS)
    assert not [result for result in results if "the cell raised" in result.message]


# --- every row of a contract is a visible check


@pytest.mark.parametrize(("lab", "question"), QUESTIONS, ids=name)
def test_every_contract_has_rows_and_each_has_a_visible_check(lab: Lab, question: str) -> None:
    files = LabFiles.read(lab)
    rows = files.rows[question]
    assert len(rows) >= 3 and len(set(rows)) == len(rows)
    visible = [check for check in files.checks.of(question) if check.visible]
    assert set(rows) == {row for check in visible for row in check.rows}


def with_checks(files: LabFiles, change: Callable[[Check], Check]) -> LabFiles:
    checks = CheckSet(files.checks.lab)
    checks.checks = [change(check) for check in files.checks.checks]
    return dataclasses.replace(files, checks=checks)


def test_a_row_that_only_a_hidden_check_tries_is_red() -> None:
    files = with_checks(
        LabFiles.read(LABS[1]),
        lambda check: dataclasses.replace(
            check, visible=check.visible and check.name != "unknown_state_refused"
        ),
    )
    problems = examine(files, "q2").problems
    assert problems == ['no visible check tries the contract row \'("asleep", "admit", table)\'']


def test_a_check_that_names_a_row_which_is_not_there_is_red() -> None:
    files = LabFiles.read(LABS[0])
    files = dataclasses.replace(files, rows={**files.rows, "q1": files.rows["q1"][1:]})
    assert examine(files, "q1").problems == [
        "check 'gap_of_two_times' names 'gap(2.0, 5.0)', which is no row of the contract"
    ]


def test_the_rows_of_a_contract_are_the_first_cells_of_its_tables() -> None:
    contract = "**Contract.** x\n\n| a | b |\n|---|---|\n| `f(1)` | 2 |\n\n| c |\n|:--|\n| `g`, `h` |\n\nEnd."
    cells = [("markdown", "| not | this |\n|---|---|\n| 1 | 2 |"), ("markdown", contract)]
    cells.append(("code", "# lab99/q1 — keep this line"))
    book = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    assert contract_rows(book) == {"q1": ("f(1)", "g, h")}


CELL = """# lab99/q1 — keep this line
def f(items):
    # TODO 1: …
    ### BEGIN SOLUTION
    total = 0
    while items and total < 10:
        total += items.pop()
    return total
    ### END SOLUTION
"""


def test_mutants_change_one_token_of_the_solution() -> None:
    found = {mutant.name for mutant in mutants(CELL)}
    expected = {
        "< → <= (line 2)",
        "and → or (line 2)",
        "pop() → pop(0) (line 3)",
        "0 → 1 (line 1)",
        "10 → 9 (line 2)",
    }
    assert expected <= found


def test_mutants_are_programs_and_differ_from_each_other() -> None:
    sources = [mutant.source for mutant in mutants(CELL)]
    assert len(set(sources)) == len(sources) > 8
    for source in sources:
        compile(source, "<mutant>", "exec")


def test_a_dropped_lock_is_a_mutant() -> None:
    region = "    with x.lock:\n        x.n = 1\n    return x\n"
    cell = f"def f(x):\n    ### BEGIN SOLUTION\n{region}    ### END SOLUTION\n"
    (mutant,) = [mutant for mutant in mutants(cell) if mutant.name.startswith("drop with")]
    assert mutant.source == "def f(x):\n    x.n = 1\n    return x"
