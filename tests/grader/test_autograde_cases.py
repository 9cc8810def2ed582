"""The handed cases of kind `autograde`, through the graft and the judge.

A case writes its tests as statements on the answer's names. The adapter runs such a statement
on the judge's side, with every unknown name bound to the answer in the sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grader.judge import judge_notebook
from grader.sandbox import Limits, Sandbox
from grader.verdict import Verdict, as_text
from inference_kit.labs.checking import CheckSet, Subject, expect, fail
from tests.grader.grading import grafted

CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[1] / "cases" / "reports.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))["kind"] == "autograde"
}
STUB = "raise NotImplementedError"


class AnswerNames(dict[str, Any]):
    """Globals of a case's test: what is not defined here is a function of the answer."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(check_equal=expect)
        self._subject = subject

    def __missing__(self, name: str) -> Callable[..., Any]:
        if name == "__builtins__":
            raise KeyError(name)
        return lambda *args: self._subject.call(name, *args)


def add_check(checks: CheckSet, question: str, points: int, source: str) -> None:
    """Register a case's test statement as the one check of a question."""

    def run(subject: Subject, rng: object) -> None:
        try:
            eval(compile(source, question, "exec"), AnswerNames(subject))
        except AssertionError:
            fail("the assertion does not hold", given=source)

    run.__name__ = f"test_{question}"
    checks.check(question, points=points)(run)


def master(cells: list[dict[str, Any]]) -> tuple[NotebookNode, CheckSet]:
    """The instructor's notebook and checks of a case."""
    checks = CheckSet("case")
    notebook = new_notebook()
    for cell in cells:
        is_test = cell["type"] == "test"
        made = new_code_cell(f'check("case.{cell["id"]}")' if is_test else STUB)
        flags = {
            "grade": is_test,
            "locked": is_test,
            "solution": not is_test,
            "task": False,
            "schema_version": 3,
        }
        made.metadata["nbgrader"] = {"grade_id": cell["id"], **flags}
        if is_test:
            made.metadata.nbgrader["points"] = cell["points"]
            add_check(checks, cell["id"], cell["points"], cell["source"])
        notebook.cells.append(made)
    return notebook, checks


def submitted(cells: list[dict[str, Any]]) -> NotebookNode:
    """A submission with these sources under these grade ids."""
    made = [new_code_cell(cell["source"], metadata={"nbgrader": {"grade_id": cell["id"]}}) for cell in cells]
    return new_notebook(cells=made)


def run_case(
    cells: list[dict[str, Any]],
    submission: list[dict[str, Any]],
    sandbox: Sandbox,
    cell_timeout_s: float = 2.0,
) -> tuple[dict[str, Verdict], list[str]]:
    """Verdicts by test id, and the flags of the graft."""
    instructor, checks = master(cells)
    result = grafted(submitted(submission), instructor)
    limits = Limits(check_s=cell_timeout_s, cell_s=cell_timeout_s)
    verdicts = judge_notebook(result.notebook, checks, sandbox, limits)
    return {verdict.grade_id: verdict for verdict in verdicts}, result.flags


def earned(verdicts: dict[str, Verdict]) -> dict[str, float]:
    return {name: verdict.earned for name, verdict in verdicts.items()}


def status(verdict: Verdict) -> str:
    return verdict.results[0].status


def test_every_handed_case_has_its_test() -> None:
    assert sorted(CASES) == ["G04", "G05", "G06", "G08", "G10", "G11", "G13"]


def test_g04_a_dead_process_passes_nothing_and_later_questions_are_graded(sandbox: Sandbox) -> None:
    cells, expected = CASES["G04"]["input"]["cells"], CASES["G04"]["expected"]
    verdicts, _ = run_case(cells, cells, sandbox)
    # A new worker is started after a death: the declared restart policy.
    assert earned(verdicts) == {**expected["scores"], **expected["with_restart_policy"]}
    assert (status(verdicts["t1"]), status(verdicts["t2"])) == ("passed", "died")


@pytest.mark.parametrize("source", CASES["G05"]["input"]["sources"])
def test_g05_an_exit_is_never_a_pass(source: str, sandbox: Sandbox) -> None:
    test = {**CASES["G05"]["input"]["each_followed_by"], "type": "test"}
    cells = [{"id": "s", "type": "solution", "source": source}, test]
    verdicts, _ = run_case(cells, cells, sandbox)
    assert earned(verdicts) == {"t": CASES["G05"]["expected"]["not_run_counts_as"]}
    assert status(verdicts["t"]) == "failed"


def test_g06_duplicated_ids_are_flagged_and_graded_once(sandbox: Sandbox) -> None:
    case, expected = CASES["G06"]["input"], CASES["G06"]["expected"]
    verdicts, flags = run_case(case["master"], case["submission"], sandbox)
    assert earned(verdicts) == {"t1": expected["score"]}
    assert verdicts["t1"].max_points == expected["max"]
    assert [flag.split(":")[0] for flag in flags] == expected["flagged"]
    assert [result.name for result in verdicts["t1"].results] == ["test_t1"]


def test_g08_input_fails_at_once_and_what_stood_above_it_counts(sandbox: Sandbox) -> None:
    cells = CASES["G08"]["input"]["cells"]
    verdicts, _ = run_case(cells, cells, sandbox)
    assert earned(verdicts) == CASES["G08"]["expected"]["scores"]


@pytest.mark.parametrize("name", CASES["G10"]["input"]["implementations"])
def test_g10_each_mutant_passes_and_fails_the_inputs_it_should(name: str, sandbox: Sandbox) -> None:
    case, expected = CASES["G10"]["input"], CASES["G10"]["expected"]["results"][name]
    inputs = [case["visible_input"], *case["hidden_inputs"]]
    results = mutant_results(f"return {case['implementations'][name]}", inputs, sandbox)
    assert results == [expected["visible"], *expected["hidden"]]


def test_g10_every_input_fails_an_answer_that_raises(sandbox: Sandbox) -> None:
    case = CASES["G10"]["input"]
    results = mutant_results("raise ValueError", [case["visible_input"], *case["hidden_inputs"]], sandbox)
    assert not any(results)


def mutant_results(body: str, inputs: list[list[int]], sandbox: Sandbox) -> list[bool]:
    """Whether `only_evens` with that body gives the evens of each input."""
    tests = [
        {
            "id": f"t{number}",
            "type": "test",
            "points": 1,
            "source": f"check_equal(only_evens({values}), {[value for value in values if value % 2 == 0]})",
        }
        for number, values in enumerate(inputs)
    ]
    answer = {"id": "s", "type": "solution", "source": f"def only_evens(vs):\n    {body}"}
    verdicts, _ = run_case([answer, *tests], [answer], sandbox)
    return [verdict.earned == 1 for verdict in verdicts.values()]


def test_g11_an_endless_loop_costs_its_own_question(sandbox: Sandbox) -> None:
    case, expected = CASES["G11"]["input"], CASES["G11"]["expected"]
    verdicts, _ = run_case(case["cells"], case["cells"], sandbox, case["cell_timeout_s"])
    assert earned(verdicts) == expected["scores"]
    assert status(verdicts["t1"]) == expected["status"]["t1"]
    assert expected["message_names"] in as_text(verdicts["t1"])


def test_g13_an_object_that_equals_everything_equals_nothing(sandbox: Sandbox) -> None:
    cells = CASES["G13"]["input"]["cells"]
    verdicts, _ = run_case(cells, cells, sandbox)
    assert earned(verdicts) == CASES["G13"]["expected"]["scores"]


def test_the_instructors_notebook_of_a_case_is_valid() -> None:
    notebook, _ = master(CASES["G04"]["input"]["cells"])
    nbformat.validate(notebook)
