"""Where grading hangs on nbgrader: the exporter and preprocessors that `nbgrader_config.py` names.

Owns nothing but the way through `nbgrader autograde`: its first pass grafts, its second
judges. Invariant: a submission, however broken, never raises here; only a fault of the
course itself (no source, no checks, a gradebook that does not match) does.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Float, Integer, Unicode

from .course import CHECKS_NAME, CourseMismatch, Submission, code_version, released_form
from .graft import KEY
from .judge import LabChecks
from .pipeline import (
    Settings,
    full_version,
    grading_of,
    graft_cells,
    judged,
    judgement_key,
    warm_modules,
    write_verdicts,
)
from .sandbox import AUTO, RLIMITS, Limits, choose
from .submission import Ungradable, read_submission
from .verdict import PROVISIONAL
from .verdict_log import VerdictLog


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
        reason = read.get("ungradable", "")
        if reason:
            self.log.warning("%s: not graded: %s", resources["nbgrader"]["student"], reason)
        return graft_cells(instructor, read.get("cells", ()), reason), resources

    def instructor_copy(self, resources: dict[str, Any]) -> NotebookNode:
        """The source notebook as nbgrader releases it. Raises `CourseMismatch` without one."""
        path = self.assignment_folder(resources) / f"{resources['nbgrader']['notebook']}.ipynb"
        return released_form(path, self.config)


class Judge(CourseStep):
    """Second pass: runs the checks outside and writes the verdicts as outputs."""

    sandbox = Unicode(AUTO, help="Where answers run: auto, bubblewrap or rlimits.").tag(config=True)
    seed = Integer(0, help="Seed of the hidden cases. The same seed gives the same scores.").tag(config=True)
    check_s = Float(Limits.check_s, help="Seconds that one check may take.").tag(config=True)
    cell_s = Float(Limits.cell_s, help="Seconds that one cell may take.").tag(config=True)
    memory_mb = Integer(Limits.memory_bytes >> 20, help="Memory of one answer, in MB.").tag(config=True)

    _checks = LabChecks()

    def settings(self) -> Settings:
        """What the configuration says about judging."""
        limits = Limits(check_s=self.check_s, cell_s=self.cell_s, memory_bytes=self.memory_mb << 20)
        return Settings(choose(self.sandbox).level, self.seed, limits)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        info, settings = resources["nbgrader"], self.settings()
        if settings.level == RLIMITS:
            self.log.warning(PROVISIONAL)
        folder = self.assignment_folder(resources)
        version = code_version(folder)
        key = judgement_key(nb, version, settings)
        submitted = Path(
            self.course.format_path(self.course.submitted_directory, info["student"], info["assignment"])
        )
        submission = Submission(
            info["student"], info["assignment"], info["notebook"], submitted / f"{info['notebook']}.ipynb"
        )
        log = VerdictLog((Path(self.course.root) / self.course.submitted_directory).parent)
        try:
            verdicts = log.find(key)
            if verdicts is None:
                instructor = released_form(folder / f"{info['notebook']}.ipynb", self.config)
                checks = self._checks.load(folder / CHECKS_NAME)
                verdicts = judged(nb, checks, settings, warm_modules(instructor))
            write_verdicts(nb, verdicts)
            log.add(grading_of(submission, key, full_version(version, settings), verdicts, nb), verdicts)
        finally:
            log.close()
        earned = sum(verdict.earned for verdict in verdicts)
        self.log.info("%s: %g points (%s)", info["student"], earned, settings.level)
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
    """Remove links, pipes and devices from a submission's folder before nbgrader copies its files.

    nbgrader follows links, so one to the gradebook would end as a copy in the feedback; and it waits
    for ever for the content of a pipe.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        for parent, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                path = Path(parent) / name
                if path.is_symlink() or not (path.is_file() or path.is_dir()):
                    path.unlink()
