"""Where grading hangs on nbgrader: the exporter and preprocessors that `nbgrader_config.py` names.

Owns nothing but the way through `nbgrader autograde`: its first pass grafts, its second
judges. Invariant: a submission, however broken, never raises here; only a fault of the
course itself (no source, no checks, a gradebook that does not match) does.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
)
from nbgrader.utils import is_grade
from traitlets import Float, Integer, Unicode

from inference_kit.errors import KitError

from .graft import KEY, Grafted, graft, metadata_of
from .judge import LabChecks, judge_notebook, test_cells_of
from .sandbox import AUTO, RLIMITS, Limits, choose
from .submission import Ungradable, read_submission
from .verdict import PROVISIONAL, as_outputs

RELEASE_STEPS = (LockCells, ClearSolutions, ClearOutput, ComputeChecksums)


class CourseMismatch(KitError):
    """The course's own files or gradebook do not fit together; the message says what to run."""


class GraftingExporter(NotebookExporter):
    """Reads a submission as texts only when it grafts; otherwise reads notebooks as usual."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if not any(isinstance(step, Graft) for step in self._preprocessors):
            return super().from_filename(filename, resources=resources, **kw)
        resources = {} if resources is None else resources
        try:
            resources[KEY] = {"cells": read_submission(Path(filename))}
        except Ungradable as error:
            resources[KEY] = {"ungradable": str(error)}
        return self.from_notebook_node(new_notebook(), resources=resources, **kw)


class CourseStep(NbGraderPreprocessor):
    """A preprocessor that knows the course it works for."""

    @property
    def course(self) -> CourseDirectory:
        """The course directory of the converter that runs this step."""
        return self.parent.parent.coursedir

    def assignment_folder(self, resources: dict[str, Any]) -> Path:
        """The instructor's folder of the assignment: source notebook and checks."""
        course = self.course
        return Path(course.format_path(course.source_directory, ".", resources["nbgrader"]["assignment"]))


class Graft(CourseStep):
    """First pass: the instructor's copy with the submission's answers in it."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        instructor = self.instructor_copy(resources)
        require_same_points(instructor, resources)
        read = resources[KEY]
        if "ungradable" in read:
            result = Grafted(instructor, flags=[f"not graded: {read['ungradable']}"])
            info = {**metadata_of(result), "ungradable": read["ungradable"]}
            self.log.warning("%s: not graded: %s", resources["nbgrader"]["student"], read["ungradable"])
        else:
            result = graft(instructor, read["cells"])
            info = metadata_of(result)
        result.notebook.metadata[KEY] = info
        if result.flags:
            result.notebook.cells.insert(0, notes_cell(result.flags))
        result.notebook.cells += helper_cells(result.program)
        return result.notebook, resources

    def instructor_copy(self, resources: dict[str, Any]) -> NotebookNode:
        """The source notebook as nbgrader releases it. Raises `CourseMismatch` without one."""
        path = self.assignment_folder(resources) / f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            notebook = nbformat.read(path, as_version=4)
        except (OSError, ValueError) as error:
            raise CourseMismatch(f"{path} is no source notebook; run 'make labs' ({error})") from error
        for step in RELEASE_STEPS:
            notebook, _ = step(parent=self).preprocess(notebook, {})
        return notebook


class Judge(CourseStep):
    """Second pass: runs the checks outside and writes the verdicts as outputs."""

    sandbox = Unicode(AUTO, help="Where answers run: auto, bubblewrap or rlimits.").tag(config=True)
    seed = Integer(0, help="Seed of the hidden cases. The same seed gives the same scores.").tag(config=True)
    check_s = Float(Limits.check_s, help="Seconds that one check may take.").tag(config=True)
    cell_s = Float(Limits.cell_s, help="Seconds that one cell may take.").tag(config=True)
    memory_mb = Integer(Limits.memory_bytes >> 20, help="Memory of one answer, in MB.").tag(config=True)

    _checks = LabChecks()

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        checks = self._checks.load(self.assignment_folder(resources) / "checks.py")
        limits = Limits(check_s=self.check_s, cell_s=self.cell_s, memory_bytes=self.memory_mb << 20)
        sandbox = choose(self.sandbox)
        if sandbox.level == RLIMITS:
            self.log.warning(PROVISIONAL)
        verdicts = judge_notebook(nb, checks, sandbox, limits, self.seed)
        for cell, verdict in zip(test_cells_of(nb), verdicts, strict=True):
            cell.outputs = as_outputs(verdict)
            cell.execution_count = 1
        nb.metadata[KEY]["verdicts"] = [verdict.record() for verdict in verdicts]
        earned = sum(verdict.earned for verdict in verdicts)
        self.log.info("%s: %g points (%s)", resources["nbgrader"]["student"], earned, sandbox.level)
        return nb, resources


def require_same_points(notebook: NotebookNode, resources: dict[str, Any]) -> None:
    """Raise `CourseMismatch` unless the gradebook has the notebook's graded cells and points."""
    info = resources["nbgrader"]
    ours = {
        cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
        for cell in notebook.cells
        if is_grade(cell)
    }
    with Gradebook(info["db_url"]) as gradebook:
        try:
            known = gradebook.find_notebook(info["notebook"], info["assignment"])
        except MissingEntry:
            known = None
        theirs = {cell.name: float(cell.max_score) for cell in known.grade_cells} if known is not None else {}
    if ours != theirs:
        changed = sorted({name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)})
        raise CourseMismatch(
            f"the gradebook and the source notebook differ in {', '.join(changed)}; "
            f"run 'nbgrader generate_assignment {info['assignment']} --force'"
        )


def drop_links(assignment: str, student: str, notebooks: list[str]) -> None:
    """Remove links from a submission's folder before nbgrader copies its files.

    nbgrader follows them, so a link to the gradebook would end as a copy in the feedback.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        for parent, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                if (Path(parent) / name).is_symlink():
                    (Path(parent) / name).unlink()


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
