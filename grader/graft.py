"""Grafting: the learner's answers, and nothing else, go into the instructor's own copy.

Owns the choice of the cell that holds each answer and the list of cells the worker runs. All
functions are pure. Invariant: of a submission only cell texts count; points, tags, checks and
outputs are the instructor's, whatever the submitted file says.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from .submission import SubmittedCell

KEY = "inference_kit"
"""Name of our part of a notebook's metadata."""

_MARKER = re.compile(r"^[ \t]*#[ \t]*([A-Za-z][\w.-]*/[\w.-]+)", re.MULTILINE)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
FOUND_BY = ("marker", "grade id", "cell id", "function name")


@dataclass(frozen=True)
class Slot:
    """One place in the instructor's copy that takes an answer."""

    grade_id: str
    cell_id: str
    is_code: bool
    stub: str

    @property
    def marker(self) -> str:
        """`lab01/q2` of the line `# lab01/q2 — keep this line`; empty when there is none."""
        found = _MARKER.search(self.stub) if self.is_code else None
        return found.group(1) if found else ""

    @property
    def name(self) -> str:
        """The function or class to write: the last one that the stub defines at its top level."""
        defined = _DEFINITION.findall(self.stub) if self.is_code else []
        return str(defined[-1]) if defined else ""


@dataclass(frozen=True)
class Finding:
    """How one slot was filled. `cell` is None when the answer is missing."""

    slot: Slot
    cell: SubmittedCell | None = None
    found_by: str = ""
    duplicates: tuple[int, ...] = ()
    """Positions of other cells that claim to be the same answer."""


@dataclass
class Grafted:
    """The instructor's copy with the answers in it, and what was noticed on the way.

    `program` lists the code cells in the learner's order: `{"answer": grade_id}` or
    `{"helper": source}`.
    """

    notebook: NotebookNode
    findings: list[Finding] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    program: list[dict[str, str]] = field(default_factory=list)


def essence(source: str) -> str:
    """A source without comment lines, blank lines and trailing space: what makes it different."""
    lines = (line.rstrip() for line in source.splitlines())
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def is_stub(slot: Slot, source: str) -> bool:
    """True for a text that answers nothing: empty, or still the released one."""
    if not slot.is_code:
        return not source.strip() or source.strip() == slot.stub.strip()
    return not essence(source) or essence(source) == essence(slot.stub)


def slots_of(notebook: NotebookNode) -> list[Slot]:
    """The answer cells of the instructor's copy, in order."""
    return [
        Slot(cell.metadata.nbgrader["grade_id"], cell.get("id", ""), cell.cell_type == "code", cell.source)
        for cell in notebook.cells
        if is_solution(cell)
    ]


def test_ids_of(notebook: NotebookNode) -> list[str]:
    """The grade ids of the automatically graded cells, in order."""
    graded = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
    return [cell.metadata.nbgrader["grade_id"] for cell in graded]


def candidates(slot: Slot, cells: Iterable[SubmittedCell]) -> dict[str, list[SubmittedCell]]:
    """Cells that may hold the answer, by the rule that finds them, strongest rule first."""
    found: dict[str, list[SubmittedCell]] = {rule: [] for rule in FOUND_BY}
    for cell in cells:
        markers = _MARKER.findall(cell.source) if slot.is_code else []
        if slot.marker and slot.marker in markers:
            found["marker"].append(cell)
        elif cell.grade_id == slot.grade_id:
            found["grade id"].append(cell)
        elif slot.cell_id and cell.cell_id == slot.cell_id:
            found["cell id"].append(cell)
        elif cell.cell_type == "code" and not cell.grade_id and not markers and defines(slot, cell):
            found["function name"].append(cell)
    return found


def defines(slot: Slot, cell: SubmittedCell) -> bool:
    """True when the cell defines what the slot asks for, read without parsing it."""
    return slot.name in _DEFINITION.findall(cell.source)


def find(slot: Slot, cells: Iterable[SubmittedCell]) -> Finding:
    """The last cell that is not a stub under the strongest rule that has one, else the last stub."""
    by_rule = candidates(slot, cells)
    claims = [cell for rule in FOUND_BY[:3] for cell in by_rule[rule]]
    answers = [
        (rule, cell)
        for rule in FOUND_BY
        for cell in reversed(by_rule[rule])
        if not is_stub(slot, cell.source)
    ]
    stubs = [(rule, cell) for rule in FOUND_BY[:3] for cell in reversed(by_rule[rule])]
    if not answers and not stubs:
        return Finding(slot)
    rule, chosen = (answers or stubs)[0]
    return Finding(slot, chosen, rule, tuple(cell.index for cell in claims if cell.index != chosen.index))


def graft(instructor: NotebookNode, cells: tuple[SubmittedCell, ...]) -> Grafted:
    """Put the answers of `cells` into a copy of the instructor's notebook."""
    result = Grafted(copy.deepcopy(instructor))
    result.findings = [find(slot, cells) for slot in slots_of(instructor)]
    result.flags = flags_of(result.findings, cells, instructor)
    places = [cell for cell in result.notebook.cells if is_solution(cell)]
    for place, finding in zip(places, result.findings, strict=True):
        if finding.cell is not None:
            place.source = finding.cell.source
    result.program = program_of(result.findings, cells, instructor)
    return result


def flags_of(
    findings: list[Finding], cells: tuple[SubmittedCell, ...], instructor: NotebookNode
) -> list[str]:
    """What an instructor may want to look at, in words the learner may read."""
    flags = []
    for finding in findings:
        name = finding.slot.grade_id
        if finding.cell is None:
            flags.append(f"missing {name}: no cell holds this answer")
        elif finding.found_by in ("cell id", "function name"):
            flags.append(f"moved {name}: found by its {finding.found_by}")
        if finding.duplicates:
            flags.append(f"duplicate {name}: {len(finding.duplicates) + 1} cells; the last answer was graded")
    submitted = [cell.grade_id for cell in cells]
    for test_id in test_ids_of(instructor):
        if submitted.count(test_id) == 0:
            flags.append(f"missing {test_id}: the check was restored")
        elif submitted.count(test_id) > 1:
            flags.append(f"duplicate {test_id}: {submitted.count(test_id)} cells; the check ran once")
    return flags


def program_of(
    findings: list[Finding], cells: tuple[SubmittedCell, ...], instructor: NotebookNode
) -> list[dict[str, str]]:
    """The code the worker runs: answers where the learner put them, other cells as helpers.

    An answer that is missing keeps its stub, which runs last. A copy of a stub, a check and
    a cell that the instructor gave are no helpers.
    """
    chosen: dict[int, list[str]] = {}
    for finding in findings:
        if finding.slot.is_code and finding.cell is not None:
            chosen.setdefault(finding.cell.index, []).append(finding.slot.grade_id)
    slots = [finding.slot for finding in findings if finding.slot.is_code]
    given = {essence(cell.source) for cell in instructor.cells if cell.cell_type == "code"}
    tests = set(test_ids_of(instructor))

    def is_known(source: str) -> bool:
        return essence(source) in given or any(is_stub(slot, source) for slot in slots)

    program: list[dict[str, str]] = []
    for cell in cells:
        if cell.index in chosen:
            program += [{"answer": grade_id} for grade_id in chosen[cell.index]]
        elif cell.cell_type == "code" and cell.grade_id not in tests and not is_known(cell.source):
            program.append({"helper": cell.source})
    missing = [finding.slot.grade_id for finding in findings if finding.slot.is_code and finding.cell is None]
    return program + [{"answer": grade_id} for grade_id in missing]


def metadata_of(result: Grafted) -> dict[str, Any]:
    """What the second pass of grading and the instructor need, as plain data."""
    return {
        "flags": list(result.flags),
        "found_by": {finding.slot.grade_id: finding.found_by for finding in result.findings},
        "program": list(result.program),
    }
