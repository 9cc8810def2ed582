"""An instructor's course root, as the grader's own commands see it.

Owns finding things: nbgrader's configuration, the submissions, the released form of a source
notebook, the checks. It changes nothing. Invariant: every path comes from nbgrader's
configuration, so the stock commands and ours always speak of the same files.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from traitlets.config import Config

from inference_kit.errors import KitError

from .sandbox import REPOSITORY

RELEASE_STEPS = (LockCells, ClearSolutions, ClearOutput, ComputeChecksums)
CHECKS_NAME = "checks.py"
CODE_ROOMS = (REPOSITORY / "inference_kit", REPOSITORY / "grader")


class CourseMismatch(KitError):
    """The course's own files or gradebook do not fit together; the message says what to run."""


@dataclass(frozen=True)
class Submission:
    """One submitted notebook: whose, of what, and where it lies."""

    student: str
    assignment: str
    notebook: str
    path: Path


class Course:
    """The course whose `nbgrader_config.py` lies in `root`."""

    def __init__(self, root: Path) -> None:
        """Raises `CourseMismatch` for a folder without a configuration."""
        self.root = root.resolve()
        if not (self.root / "nbgrader_config.py").is_file():
            raise CourseMismatch(f"{self.root} has no nbgrader_config.py; run this at the root of the course")
        self.config = read_config(self.root)
        self.directory = CourseDirectory(config=self.config)

    @property
    def data(self) -> Path:
        """The folder of gradebook, verdicts and everything else that grading writes."""
        return (self.root / self.directory.submitted_directory).parent

    def folder(self, kind: str, student: str, assignment: str) -> Path:
        """A folder of nbgrader's tree. `kind`: source, submitted, autograded, feedback."""
        directory = getattr(self.directory, f"{kind}_directory")
        return Path(self.directory.format_path(directory, student, assignment))

    def assignments(self) -> list[str]:
        """Names of the assignments that have a source notebook and checks, in order."""
        sources = self.root / self.directory.source_directory
        return sorted(
            folder.name
            for folder in sources.iterdir()
            if (folder / CHECKS_NAME).is_file() and (folder / f"{folder.name}.ipynb").is_file()
        )

    def submissions(self, assignment: str) -> list[Submission]:
        """Every submitted notebook of an assignment, by student. A folder without it has none."""
        top = self.root / self.directory.submitted_directory
        found = []
        for student in sorted(os.listdir(top)) if top.is_dir() else []:
            path = self.folder("submitted", student, assignment) / f"{assignment}.ipynb"
            if os.path.lexists(path):
                found.append(Submission(student, assignment, assignment, path))
        return found


def read_config(root: Path) -> Config:
    """nbgrader's configuration as the stock commands read it in that folder."""
    before = Path.cwd()
    os.chdir(root)
    try:
        app = NbGrader()
        app.initialize([])
    finally:
        os.chdir(before)
    return app.config


def released_form(path: Path, config: Config) -> NotebookNode:
    """A source notebook as nbgrader releases it under that configuration. Raises `CourseMismatch`."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise CourseMismatch(f"{path} is no source notebook; run 'make labs' ({error})") from error
    for step in RELEASE_STEPS:
        notebook, _ = step(config=config).preprocess(notebook, {})
    return notebook


def code_version(assignment_folder: Path) -> str:
    """Changes with every file that a verdict depends on: the checks, the kit and the grader."""
    digest = hashlib.sha256()
    for room in (*CODE_ROOMS, assignment_folder):
        for path in sorted(room.rglob("*.py")):
            digest.update(str(path.relative_to(room)).encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
