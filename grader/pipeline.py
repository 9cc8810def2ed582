"""From one submitted file to its verdicts: read, graft, judge, and write them as outputs.

Owns the order of these steps for every way to grade, so that nbgrader's own command and the
fast one cannot differ. Invariant: whatever the file holds, `Station.grade` returns an outcome;
only a fault of the course or of this machine raises.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader import utils

from inference_kit.clock import Clock, MonotonicClock
from inference_kit.labs.checking import CheckSet

from .course import CHECKS_NAME, Course, Submission, code_version, released_form
from .graft import KEY, Grafted, graft, metadata_of
from .judge import LabChecks, judge_notebook, program_cells, test_cells_of
from .sandbox import KIT_NAME, Limits, choose
from .submission import MAX_FILE_BYTES, SubmittedCell, Ungradable, read_submission
from .verdict import Verdict, as_outputs
from .verdict_log import Grading, utc_now

Find = Callable[[str], tuple[Verdict, ...] | None]


@dataclass(frozen=True)
class Settings:
    """What a verdict depends on beside the answer and the checks."""

    level: str
    seed: int = 0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Outcome:
    """Everything that is written about one graded submission."""

    submission: Submission
    notebook: str
    """The graded notebook, as the text of its file."""
    grading: Grading
    verdicts: tuple[Verdict, ...]
    scores: dict[str, float | None]
    """Points by graded cell; None where a person has to read."""
    blank: dict[str, bool]
    """By answer cell: whether nothing was written into it."""
    cached: bool
    stages: dict[str, float]
    """Seconds by stage."""


def graft_cells(
    instructor: NotebookNode, cells: tuple[SubmittedCell, ...], ungradable: str = ""
) -> NotebookNode:
    """The instructor's copy with the answers of `cells`, and what was noticed, ready to be judged."""
    if ungradable:
        result = Grafted(instructor, flags=[f"not graded: {ungradable}"])
        info = {**metadata_of(result), "ungradable": ungradable}
    else:
        result = graft(instructor, cells)
        info = metadata_of(result)
    result.notebook.metadata[KEY] = info
    if result.flags:
        result.notebook.cells.insert(0, notes_cell(result.flags))
    result.notebook.cells += helper_cells(result.program)
    return result.notebook


def judgement_key(notebook: NotebookNode, version: str, settings: Settings) -> str:
    """Names the verdicts on a grafted notebook: equal keys have equal verdicts."""
    ungradable = notebook.metadata[KEY].get("ungradable", "")
    program = () if ungradable else program_cells(notebook)
    tests = [
        (cell.metadata.nbgrader["grade_id"], float(cell.metadata.nbgrader["points"]), cell.source)
        for cell in test_cells_of(notebook)
    ]
    parts = [
        full_version(version, settings),
        [asdict(cell) for cell in program],
        tests,
        ungradable,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def full_version(version: str, settings: Settings) -> str:
    """One text for the code, this Python and the settings."""
    parts = json.dumps([version, sys.version, asdict(settings)], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def judged(
    notebook: NotebookNode, checks: CheckSet, settings: Settings, warm: tuple[str, ...] = ()
) -> tuple[Verdict, ...]:
    """The verdicts on a grafted notebook. `warm`: as for `judge_notebook`."""
    sandbox = choose(settings.level)
    return tuple(judge_notebook(notebook, checks, sandbox, settings.limits, settings.seed, warm))


def write_verdicts(notebook: NotebookNode, verdicts: tuple[Verdict, ...]) -> None:
    """Make the verdicts the outputs of their test cells, and keep them in the metadata."""
    for cell, verdict in zip(test_cells_of(notebook), verdicts, strict=True):
        cell.outputs = as_outputs(verdict)
        cell.execution_count = 1
    notebook.metadata[KEY]["verdicts"] = [verdict.record() for verdict in verdicts]


def grading_of(
    submission: Submission, key: str, version: str, verdicts: tuple[Verdict, ...], notebook: NotebookNode
) -> Grading:
    """The row of the log about one graded submission."""
    info = notebook.metadata[KEY]
    return Grading(
        student=submission.student,
        assignment=submission.assignment,
        notebook=submission.notebook,
        key=key,
        version=version,
        earned=sum(verdict.earned for verdict in verdicts),
        max_points=sum(verdict.max_points for verdict in verdicts),
        sandbox=verdicts[0].level if verdicts else "",
        reason=info.get("ungradable", ""),
        flags=tuple(info["flags"]),
        file_digest=file_digest(submission.path),
        graded_at=utc_now(),
    )


def warm_modules(notebook: NotebookNode) -> tuple[str, ...]:
    """What the instructor's cells import, and so every answer: modules, and `module:name`."""
    found: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {f"{node.module}:{alias.name}" for alias in node.names}
    hidden = (KIT_NAME, "__future__", "google", "IPython")
    return tuple(sorted(name for name in found if re.split("[.:]", name)[0] not in hidden))


@dataclass(frozen=True)
class _Lab:
    """What grading needs of one assignment, loaded once."""

    instructor: NotebookNode
    checks: CheckSet
    version: str
    warm: tuple[str, ...]


class Station:
    """Grades submissions of a course one after the other, in this process."""

    def __init__(self, course: Course, settings: Settings, find: Find, clock: Clock | None = None) -> None:
        """`find` returns the verdicts already known for a key, or None."""
        self._course = course
        self._settings = settings
        self._find = find
        self._clock = clock or MonotonicClock()
        self._checks = LabChecks()
        self._labs: dict[str, _Lab] = {}

    def grade(self, submission: Submission) -> Outcome:
        """The outcome for one submission. Raises only for faults of the course or the machine."""
        lab = self._lab(submission.assignment)
        marks = [self._clock.now()]
        cells, ungradable = read_file(submission.path)
        marks.append(self._clock.now())
        notebook = graft_cells(copy_of(lab.instructor), cells, ungradable)
        key = judgement_key(notebook, lab.version, self._settings)
        marks.append(self._clock.now())
        known = self._find(key)
        verdicts = known or judged(notebook, lab.checks, self._settings, lab.warm)
        marks.append(self._clock.now())
        write_verdicts(notebook, verdicts)
        text = nbformat.writes(notebook)
        marks.append(self._clock.now())
        names = ("read", "graft", "judge", "write")
        return Outcome(
            submission=submission,
            notebook=text,
            grading=grading_of(
                submission, key, full_version(lab.version, self._settings), verdicts, notebook
            ),
            verdicts=verdicts,
            scores={
                cell.metadata.nbgrader["grade_id"]: utils.determine_grade(cell)[0]
                for cell in notebook.cells
                if utils.is_grade(cell)
            },
            blank={
                cell.metadata.nbgrader["grade_id"]: is_blank(cell)
                for cell in notebook.cells
                if utils.is_solution(cell) or utils.is_task(cell)
            },
            cached=known is not None,
            stages={name: end - start for name, start, end in zip(names, marks, marks[1:], strict=False)},
        )

    def is_known(self, submission: Submission) -> bool:
        """True when the verdicts on a submission are known already."""
        lab = self._lab(submission.assignment)
        notebook = graft_cells(copy_of(lab.instructor), *read_file(submission.path))
        return self._find(judgement_key(notebook, lab.version, self._settings)) is not None

    def graded_file(self, submission: Submission) -> Path:
        """Where the graded notebook of a submission lies."""
        folder = self._course.folder("autograded", submission.student, submission.assignment)
        return folder / f"{submission.notebook}.ipynb"

    def version(self, assignment: str) -> str:
        """Changes with everything but the answer that a verdict depends on."""
        return full_version(self._lab(assignment).version, self._settings)

    def _lab(self, assignment: str) -> _Lab:
        if assignment not in self._labs:
            folder = self._course.folder("source", ".", assignment)
            instructor = released_form(folder / f"{assignment}.ipynb", self._course.config)
            self._labs[assignment] = _Lab(
                instructor,
                self._checks.load(folder / CHECKS_NAME),
                code_version(folder),
                warm_modules(instructor),
            )
        return self._labs[assignment]


def read_file(path: Path) -> tuple[tuple[SubmittedCell, ...], str]:
    """(cells, why there are none) of a submitted file, whatever it holds."""
    try:
        return read_submission(path), ""
    except Ungradable as error:
        return (), str(error)


def file_digest(path: Path) -> str:
    """SHA-256 of a submitted file; empty when it is a link or cannot be read."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return ""
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def copy_of(notebook: NotebookNode) -> NotebookNode:
    """A copy that can be changed."""
    copied: NotebookNode = nbformat.from_dict(json.loads(json.dumps(notebook)))
    return copied


def is_blank(cell: NotebookNode) -> bool:
    """nbgrader's rule: the text is still the released one. A task cell never is."""
    checksum: Any = cell.metadata.nbgrader.get("checksum")
    return bool(checksum == utils.compute_checksum(cell)) and not utils.is_task(cell)


def helper_cells(program: list[dict[str, str]]) -> list[NotebookNode]:
    """The learner's other cells, shown to whoever reads the graded notebook."""
    cells = []
    for index, block in enumerate(program):
        if "helper" in block:
            cell = new_code_cell(f"# From another cell of the submission\n{block['helper']}")
            cell["id"] = f"helper-{index}"
            cell.metadata[KEY] = {"shown": "helper"}
            cells.append(cell)
    return cells


def notes_cell(flags: list[str]) -> NotebookNode:
    """A cell at the top that says what grading noticed."""
    lines = "\n".join(f"- {flag}" for flag in flags)
    cell = new_markdown_cell(f"**Notes from grading**\n\n{lines}")
    cell["id"] = "grading-notes"
    return cell
