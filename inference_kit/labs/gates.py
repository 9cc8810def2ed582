"""The gates that every question's checks must pass: checks that are themselves checked.

Runs the reference, the stub, right and wrong answers and one-token mutants of the reference
through the checks of a lab. It judges checks, not learners. Invariant: an answer that loops is
stopped by a count of executed lines, so a gate never hangs and never depends on the clock.
"""

from __future__ import annotations

import ast
import copy
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ..clock import MonotonicClock
from .answers import Answer, read_answers, reference_source, stub_source
from .build import Lab
from .checking import Check, CheckResult, CheckSet, LocalSubject, result_of, run_check
from .extract import MasterError
from .masters import answer_cells, contract_rows, make_notebook, read_course

MAX_LINES = 200_000
MUTANTS_CAUGHT = 0.95
FILE = "<answer>"


class _TooManyLines(BaseException):
    """The answer ran too long. Not an Exception, so that no answer can catch it by accident."""


class LineBudget:
    """Counts the lines that run in answers and raises when there are too many."""

    def __init__(self, limit: int = MAX_LINES) -> None:
        self.left = limit

    def __enter__(self) -> LineBudget:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        self.left -= 1
        if self.left < 0:
            raise _TooManyLines
        return self._trace


def run_answer(checks: CheckSet, question: str, source: str, seed: int | str = 0) -> list[CheckResult]:
    """Run one answer cell in a fresh namespace, and then every check of its question.

    The cell is compiled without the `__future__` imports of this file and is called `__main__`, as in a
    notebook and in the judge. Otherwise a data class in an answer would fail here and nowhere else.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with LineBudget():
        try:
            exec(compile(source, FILE, "exec", dont_inherit=True), namespace)
        except (Exception, _TooManyLines) as error:
            return [result_of(check, "raised", f"the cell raised {error!r}") for check in checks.of(question)]
    return [_run_one(check, namespace, seed) for check in checks.of(question)]


def _run_one(check: Check, namespace: dict[str, Any], seed: int | str) -> CheckResult:
    with LineBudget():
        try:
            return run_check(check, LocalSubject(namespace), seed)
        except _TooManyLines:
            return result_of(check, "timeout", "the answer does not come back")


def failed_names(results: list[CheckResult]) -> set[str]:
    return {result.name for result in results if result.status != "passed"}


# --- mutants ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """The reference with one token changed, dropped or swapped."""

    name: str
    source: str


_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SWAPPED_NAMES = {"min": "max", "max": "min", "append": "extend", "any": "all", "all": "any"}


def mutants(cell: str) -> Iterator[Mutant]:
    """Every one-token mutant of the solution regions of an answer cell of the source notebook."""
    inside = _region_lines(cell)
    before = min(inside)
    tree = ast.parse(reference_source(cell))
    silent = _without_behaviour(tree)
    targets = [
        node for node in ast.walk(tree) if getattr(node, "lineno", -1) in inside and id(node) not in silent
    ]
    seen = {ast.unparse(tree)}
    order = {id(node): index for index, node in enumerate(ast.walk(tree))}
    for node in targets:
        for number in range(len(list(_changes(node)))):
            changed = copy.deepcopy(tree)
            twin = list(ast.walk(changed))[order[id(node)]]
            label, act = list(_changes(twin))[number]
            act(changed)
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in seen:
                seen.add(text)
                yield Mutant(f"{label} (line {node.lineno - before + 1})", text)  # type: ignore[attr-defined]


def _without_behaviour(tree: ast.AST) -> set[int]:
    """Ids of nodes whose change nobody can see: annotations, words of a message, `x in (a, b)`."""
    roots: list[ast.AST] = []
    silent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            roots.append(node)
        if isinstance(node, ast.AnnAssign):
            roots.append(node.annotation)
        if isinstance(node, ast.Compare):
            # The order in the tuple means nothing; its items do, and they are changed.
            silent |= {id(item) for item in node.comparators if isinstance(item, ast.Tuple)}
    return silent | {id(part) for root in roots for part in ast.walk(root)}


def _region_lines(cell: str) -> set[int]:
    """The lines (from 1) of the solution regions, with the BEGIN and END lines taken out."""
    inside: set[int] = set()
    number, within = 0, False
    for line in cell.split("\n"):
        if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION"):
            within = "BEGIN" in line
            continue
        number += 1
        if within:
            inside.add(number)
    return inside


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """(what it does, function that does it in place) for one node."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            other = _COMPARE[type(operator)]
            yield f"{_word(operator)} → {_word(other())}", _setter(node.ops, index, other())
    if isinstance(node, ast.BoolOp):
        other_bool: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{_word(node.op)} → {_word(other_bool)}", _field(node, "op", other_bool)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        other_op: ast.operator = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield f"{_word(node.op)} → {_word(other_op)}", _field(node, "op", other_op)
    if isinstance(node, ast.Constant):
        yield from _constant_changes(node)
    if isinstance(node, ast.Attribute):
        yield from _attribute_changes(node)
    if isinstance(node, ast.Name) and node.id in _SWAPPED_NAMES:
        yield f"{node.id} → {_SWAPPED_NAMES[node.id]}", _field(node, "id", _SWAPPED_NAMES[node.id])
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "pop"
        and not node.args
    ):
        yield "pop() → pop(0)", _field(node, "args", [ast.Constant(0)])
    if isinstance(node, ast.Return) and node.value is not None:
        yield "return … → return None", _field(node, "value", ast.Constant(None))
    if isinstance(node, (ast.Expr, ast.Assign, ast.Raise)):
        yield f"drop {ast.unparse(node)[:40]}", _dropper(node)
    if isinstance(node, (ast.If, ast.While)):
        yield f"{ast.unparse(node.test)} → not …", _field(node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.With):
        yield f"drop with {ast.unparse(node.items[0])[:40]}", _with_dropper(node)
    for index in range(len(items := _in_order(node)) - 1):
        yield f"swap {ast.unparse(items[index])} and {ast.unparse(items[index + 1])}", _swapper(items, index)
    if isinstance(node, ast.Dict):
        for index in range(len(node.keys)):
            yield f"drop the entry {index}", _entry_dropper(node, index)


def _in_order(node: ast.AST) -> list[ast.expr]:
    """Parts whose order has a meaning: items of a tuple, arguments of a call; not those of min and max."""
    if isinstance(node, ast.Call):
        is_symmetric = isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
        return [] if is_symmetric else node.args
    return node.elts if isinstance(node, ast.Tuple) else []


def _constant_changes(node: ast.Constant) -> Iterator[tuple[str, Any]]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} → {not value}", _field(node, "value", not value)
    elif isinstance(value, (int, float)):
        for other in (value + 1, value - 1):
            yield f"{value} → {other}", _field(node, "value", other)
    elif isinstance(value, str) and value.isidentifier():
        yield f"{value!r} → {value + '_'!r}", _field(node, "value", value + "_")


def _attribute_changes(node: ast.Attribute) -> Iterator[tuple[str, Any]]:
    if node.attr.isupper():
        # A member of an enumeration: the neighbour that a slip of the eye would take.
        neighbours = {
            "QUEUED": "ADMITTED", "ADMITTED": "QUEUED", "PREFILL": "DECODE", "DECODE": "PREFILL",
            "STREAMING": "DECODE", "PREEMPTED": "QUEUED", "FINISHED": "CANCELLED", "CANCELLED": "TIMED_OUT",
            "TIMED_OUT": "FAILED", "FAILED": "FINISHED", "PAUSE": "RESUME", "RESUME": "PAUSE",
            "PREEMPT": "PAUSE", "FINISH": "FAIL", "RECEIVED": "TOKENIZED", "TOKENIZED": "RECEIVED",
        }  # fmt: skip
        if node.attr in neighbours:
            yield f"{node.attr} → {neighbours[node.attr]}", _field(node, "attr", neighbours[node.attr])
    elif node.attr in _SWAPPED_NAMES:
        yield f"{node.attr} → {_SWAPPED_NAMES[node.attr]}", _field(node, "attr", _SWAPPED_NAMES[node.attr])


def _word(node: ast.AST) -> str:
    signs = {
        "Lt": "<",
        "LtE": "<=",
        "Gt": ">",
        "GtE": ">=",
        "Eq": "==",
        "NotEq": "!=",
        "Add": "+",
        "Sub": "-",
    }
    name = type(node).__name__
    return signs.get(name, name.replace("Not", "not ").lower())


def _setter(items: list[Any], index: int, value: Any) -> Any:
    def act(_: ast.Module) -> None:
        items[index] = value

    return act


def _field(node: ast.AST, name: str, value: Any) -> Any:
    return lambda _: setattr(node, name, value)


def _dropper(node: ast.stmt) -> Any:
    def act(tree: ast.Module) -> None:
        for owner in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(owner, name, None)
                if isinstance(block, list) and any(item is node for item in block):
                    setattr(owner, name, [ast.Pass() if item is node else item for item in block])

    return act


def _with_dropper(node: ast.With) -> Any:
    """The block stays, what it was guarded by goes."""

    def act(tree: ast.Module) -> None:
        for owner in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(owner, name, None)
                if isinstance(block, list) and any(item is node for item in block):
                    at = next(index for index, item in enumerate(block) if item is node)
                    block[at : at + 1] = node.body

    return act


def _swapper(items: list[Any], index: int) -> Any:
    def act(_: ast.Module) -> None:
        items[index], items[index + 1] = items[index + 1], items[index]

    return act


def _entry_dropper(node: ast.Dict, index: int) -> Any:
    def act(_: ast.Module) -> None:
        del node.keys[index], node.values[index]

    return act


# --- the gates of one lab -----------------------------------------------------------------------------


@dataclass
class QuestionReport:
    """What the gates found for one question. `problems` is empty when all gates are green."""

    lab: str
    question: str
    points: int
    checks: int
    accepts: int = 0
    rejects: int = 0
    mutants: int = 0
    mutants_caught: int = 0
    survivors: list[str] = field(default_factory=list)
    unique_kills: dict[str, int] = field(default_factory=dict)
    check_s: float = 0.0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LabFiles:
    """A lab, read once: its checks, and every answer that stands in its folder."""

    lab: Lab
    checks: CheckSet
    cells: dict[str, str]
    rows: dict[str, tuple[str, ...]]
    """By question: the rows of its contract table."""
    accepts: list[Answer]
    rejects: list[Answer]
    excused: dict[str, dict[str, str]]
    """By question: name of a mutant that survives, and why that is right."""

    @classmethod
    def read(cls, lab: Lab) -> LabFiles:
        checks = lab.checks()
        notebook = make_notebook(lab.master.read_text(encoding="utf-8"), read_course(), "", checks)
        cells = answer_cells(notebook)
        stubs = {question: stub_source(cell) for question, cell in cells.items()}
        excused = lab.folder / "survivors.toml"
        return cls(
            lab,
            checks,
            cells,
            contract_rows(notebook),
            read_answers(lab.folder / "accept", stubs),
            read_answers(lab.folder / "reject", stubs),
            tomllib.loads(excused.read_text(encoding="utf-8")) if excused.is_file() else {},
        )

    def of(self, question: str) -> tuple[list[Answer], list[Answer]]:
        """(right, wrong) answers of one question."""
        right = [answer for answer in self.accepts if answer.question == question]
        wrong = [answer for answer in self.rejects if answer.question == question]
        return right, wrong


def examine(files: LabFiles, question: str) -> QuestionReport:
    """Run every gate of labs.md for one question."""
    checks = files.checks
    report = QuestionReport(files.lab.lab, question, checks.points(question), len(checks.of(question)))
    cell = files.cells[question]
    clock = MonotonicClock()
    started_s = clock.now()
    _gate_reference(report, checks, question, reference_source(cell))
    report.check_s = (clock.now() - started_s) / (3 * report.checks)
    _gate_stub(report, checks, question, stub_source(cell))
    _gate_contract(report, checks, files.rows.get(question, ()))
    right, wrong = files.of(question)
    _gate_accepts(report, checks, right)
    _gate_rejects(report, checks, wrong)
    _gate_mutants(report, checks, question, cell, files.excused.get(question, {}))
    return report


def _gate_reference(report: QuestionReport, checks: CheckSet, question: str, source: str) -> None:
    """Full marks, on a second run and with a second seed as well."""
    for seed in (0, 0, 1):
        lost = failed_names(run_answer(checks, question, source, seed))
        if lost:
            report.problems.append(f"the reference fails {sorted(lost)} with seed {seed}")


def _gate_stub(report: QuestionReport, checks: CheckSet, question: str, source: str) -> None:
    for result in run_answer(checks, question, source):
        if result.status != "not_done":
            report.problems.append(f"the stub is {result.status!r} in {result.name}, not 'not_done'")


def _gate_contract(report: QuestionReport, checks: CheckSet, rows: tuple[str, ...]) -> None:
    """Whoever is "done" has met every printed case: each row of the contract has a visible check."""
    visible = {row for check in checks.of(report.question) if check.visible for row in check.rows}
    for row in rows:
        if row not in visible:
            report.problems.append(f"no visible check tries the contract row {row!r}")
    for check in checks.of(report.question):
        for row in sorted(set(check.rows) - set(rows)):
            report.problems.append(f"check {check.name!r} names {row!r}, which is no row of the contract")


def _gate_accepts(report: QuestionReport, checks: CheckSet, answers: list[Answer]) -> None:
    report.accepts = len(answers)
    if len(answers) < 2:
        report.problems.append("fewer than two right answers")
    for answer in answers:
        for seed in (0, 1):
            lost = failed_names(run_answer(checks, answer.question, answer.source, seed))
            if lost:
                report.problems.append(f"right answer {answer.name!r} fails {sorted(lost)}")


def _gate_rejects(report: QuestionReport, checks: CheckSet, answers: list[Answer]) -> None:
    report.rejects = len(answers)
    report.unique_kills = {check.name: 0 for check in checks.of(report.question)}
    if len(answers) < 5:
        report.problems.append("fewer than five wrong answers")
    for answer in answers:
        if not answer.fails or not answer.fault:
            report.problems.append(f"wrong answer {answer.name!r} does not say what it fails and why")
        for seed in (0, 0, 1):
            lost = failed_names(run_answer(checks, answer.question, answer.source, seed))
            if lost != set(answer.fails):
                report.problems.append(
                    f"wrong answer {answer.name!r} fails {sorted(lost)} and says {sorted(answer.fails)}"
                )
                break
        if len(answer.fails) == 1 and answer.fails[0] in report.unique_kills:
            report.unique_kills[answer.fails[0]] += 1
    for name, kills in report.unique_kills.items():
        if not kills:
            report.problems.append(f"check {name!r} kills nothing that no other check kills")


def _gate_mutants(
    report: QuestionReport, checks: CheckSet, question: str, cell: str, excused: dict[str, str]
) -> None:
    for mutant in mutants(cell):
        report.mutants += 1
        if failed_names(run_answer(checks, question, mutant.source)):
            report.mutants_caught += 1
        else:
            report.survivors.append(mutant.name)
    if report.mutants == 0:
        report.problems.append("no mutant could be made")
    elif report.mutants_caught < MUTANTS_CAUGHT * report.mutants:
        report.problems.append(f"only {report.mutants_caught} of {report.mutants} mutants are caught")
    for name in sorted(set(report.survivors) - set(excused)):
        report.problems.append(f"mutant {name!r} survives without a reason in survivors.toml")
    for name in sorted(set(excused) - set(report.survivors)):
        report.problems.append(f"mutant {name!r} is excused in survivors.toml and does not survive")


def examine_lab(lab: Lab) -> list[QuestionReport]:
    """All questions of a lab."""
    files = LabFiles.read(lab)
    if set(files.cells) != set(files.checks.questions):
        raise MasterError(f"{lab.name}: questions of the notebook and of the checks differ")
    return [examine(files, question) for question in files.checks.questions]
