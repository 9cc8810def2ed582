"""Judging: the checks of a lab against the grafted answers of one submission.

Owns the order of the checks, what a lost worker means for the rest, and the verdicts. The
answers run in a sandboxed worker, the checks here. Invariant: every test cell gets a verdict,
and only a check whose function returned has earned its points.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from inference_kit.errors import KitError
from inference_kit.labs.checking import (
    AnswerError,
    Check,
    CheckResult,
    CheckSet,
    load_checks,
    result_of,
    run_check,
)

from .graft import KEY
from .remote import ProgramCell, RemoteSubject, Runner
from .sandbox import Limits, Sandbox
from .verdict import Verdict

_CHECK_CELL = re.compile(r"""\s*check\(\s*["'](\w+)\.(\w+)["']\s*\)\s*;?\s*""")


class ChecksMissing(KitError):
    """The instructor's side is not complete; no submission is at fault."""


def question_of(cell: NotebookNode) -> tuple[str, str] | None:
    """("lab01", "q2") of a test cell `check("lab01.q2")`; None for any other cell."""
    found = _CHECK_CELL.fullmatch(cell.source) if cell.cell_type == "code" else None
    return (found.group(1), found.group(2)) if found else None


def test_cells_of(notebook: NotebookNode) -> list[NotebookNode]:
    """The automatically graded cells, in order."""
    graded = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
    return [cell for cell in graded if cell.cell_type == "code"]


def program_cells(notebook: NotebookNode) -> tuple[ProgramCell, ...]:
    """What the worker runs: the instructor's given cells, then the learner's in their order."""
    answers = {
        cell.metadata.nbgrader["grade_id"]: cell.source
        for cell in notebook.cells
        if is_solution(cell) and cell.cell_type == "code"
    }
    given = [
        ProgramCell(f"given-{index}", cell.source, answer=False)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
        and not is_solution(cell)
        and not is_grade(cell)
        and KEY not in cell.metadata
    ]
    learners = []
    for index, block in enumerate(notebook.metadata[KEY]["program"]):
        if "answer" in block:
            learners.append(ProgramCell(block["answer"], answers[block["answer"]], answer=True))
        else:
            learners.append(ProgramCell(f"helper-{index}", block["helper"], answer=False))
    return tuple(given + learners)


def judge_question(
    checks: tuple[Check, ...], runner: Runner, seed: int, answer_key: str = "", more: bool = False
) -> tuple[CheckResult, ...]:
    """Results of one question's checks, in their written order. Never raises for an answer.

    Visible checks run first, so that what an answer remembers of a hidden case cannot come
    back in the message of a visible one. A check that loses the worker scores 0 and the next
    one gets a new worker; after `Limits.timeouts` time-outs the rest is not run.
    `more`: another question will follow, so its worker can get ready meanwhile.
    """
    results: dict[str, CheckResult] = {}
    subject: RemoteSubject | None = None
    timeouts = 0
    try:
        for check in sorted(checks, key=lambda check: not check.visible):
            if timeouts >= runner.limits.timeouts:
                results[check.name] = result_of(check, "not_run", "not run: earlier checks took all the time")
                continue
            try:
                subject = subject or runner.start()
            except AnswerError as error:
                results[check.name] = result_of(check, error.status, str(error))
                timeouts = runner.limits.timeouts
                continue
            if more:
                runner.prepare()
            results[check.name] = _run(check, subject, seed, runner)
            if subject.lost is not None:
                timeouts += subject.lost.status == "timeout"
                subject.close()
                subject = None
    finally:
        if subject is not None:
            subject.close()
    return tuple(_explain(results[check.name], runner, answer_key) for check in checks)


def _run(check: Check, subject: RemoteSubject, seed: int, runner: Runner) -> CheckResult:
    subject.begin(runner.limits.check_s)
    result = run_check(check, subject, seed)
    if subject.lost is not None:
        # Whatever the check made of it: an answer that was lost on the way has not passed.
        return result_of(check, subject.lost.status, str(subject.lost))
    return result


def _explain(result: CheckResult, runner: Runner, answer_key: str) -> CheckResult:
    """Say why a name is missing: its cell killed or hung its process, or stopped half-way."""
    if result.status != "missing":
        return result
    fault, stopped = runner.faults.get(answer_key, ""), runner.stopped.get(answer_key, "")
    if fault:
        what = "did not come to an end" if fault == "timeout" else "ended its process"
        return replace(result, status=fault, message=f"the answer cell {what}")
    if stopped == "NotImplementedError":
        return replace(result, status="not_done", message="not done yet")
    if stopped:
        return replace(result, message=f"{result.message}: its cell stopped at a {stopped}")
    return result


class LabChecks:
    """The check sets of a course, by assignment. Each file is loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[Path, int], CheckSet] = {}

    def load(self, path: Path) -> CheckSet:
        """The checks of one assignment. Raises `ChecksMissing` when there are none."""
        try:
            key = (path, path.stat().st_mtime_ns)
            if key not in self._loaded:
                self._loaded[key] = load_checks(path)
        except (OSError, ValueError) as error:
            raise ChecksMissing(f"{path} has no checks to grade with: {error}") from error
        return self._loaded[key]


def judge_notebook(
    notebook: NotebookNode,
    checks: CheckSet,
    sandbox: Sandbox,
    limits: Limits,
    seed: int = 0,
    warm: tuple[str, ...] = (),
) -> list[Verdict]:
    """A verdict for every test cell of a grafted notebook, in order.

    `warm`: modules that a worker may have imported before. Only time depends on them.
    """
    reason = notebook.metadata[KEY].get("ungradable", "")
    cells = test_cells_of(notebook)
    if reason:
        return [Verdict(*_grade_info(cell), level=sandbox.level, reason=reason) for cell in cells]
    runner = Runner(program_cells(notebook), sandbox, limits, warm)
    verdicts = []
    try:
        for number, cell in enumerate(cells, 1):
            more = number < len(cells)
            verdicts.append(_judge_cell(cell, notebook, checks, runner, seed, more))
    finally:
        runner.close()
    return verdicts


def _judge_cell(
    cell: NotebookNode, notebook: NotebookNode, checks: CheckSet, runner: Runner, seed: int, more: bool
) -> Verdict:
    grade_id, points = _grade_info(cell)
    asked = question_of(cell)
    if asked is None or asked[0] != checks.lab or asked[1] not in checks.questions:
        raise ChecksMissing(f"the test cell {grade_id} asks for a check that {checks.lab} does not have")
    results = judge_question(checks.of(asked[1]), runner, seed, answer_before(notebook, grade_id), more)
    return Verdict(grade_id, points, results, runner.level)


def _grade_info(cell: NotebookNode) -> tuple[str, float]:
    return cell.metadata.nbgrader["grade_id"], float(cell.metadata.nbgrader["points"])


def answer_before(notebook: NotebookNode, grade_id: str) -> str:
    """Grade id of the last answer cell above a test cell; empty when there is none."""
    last = ""
    for cell in notebook.cells:
        own_id: Any = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if own_id == grade_id:
            break
        if is_solution(cell) and cell.cell_type == "code":
            last = str(own_id)
    return last
