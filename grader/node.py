"""A judge on another machine: what is sent there to unpack the grader and to grade with it.

Ray sends this file's class by value, so it imports the standard library only. A machine needs the
packages of `requirements.lock` and Ray, and nothing of ours: code, course and settings come in one
archive. Owns the unpacked copy. Invariant: a verdict is made by the same code, checks and Python as
on the machine that asked, or the judge refuses to start.
"""

from __future__ import annotations

import io
import pickle
import signal
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

CODE, COURSE = "code", "course"
"""Folders of the archive."""


class NodeJudge:
    """Grades submissions that arrive as the bytes of their file, one at a time."""

    def __init__(self, archive: bytes, settings: bytes, versions: dict[str, str]) -> None:
        """`settings`: pickled by the grader. `versions`: by assignment, as the asking side has them.

        Raises `RuntimeError` when this machine would judge otherwise, and `SandboxUnavailable` when
        it does not have the level of confinement that was asked for.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="grader-node-")
        top = Path(self._folder.name)
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            packed.extractall(top)
        sys.path.insert(0, str(top / CODE))
        from grader.course import Course
        from grader.pipeline import Station
        from grader.sandbox import choose

        chosen = pickle.loads(settings)
        choose(chosen.level)
        self._station: Any = Station(Course(top / COURSE), chosen, lambda key: None)
        for assignment, version in versions.items():
            if self._station.version(assignment) != version:
                raise RuntimeError(
                    f"this machine has Python {sys.version.split()[0]} or another copy of the grader; "
                    "every machine needs the same Python and the same packages"
                )

    def ready(self) -> bool:
        """True, as soon as the judge can take a submission."""
        return True

    def grade(self, student: str, assignment: str, data: bytes, limit_s: float) -> Any:
        """The outcome for one file. After `limit_s` seconds the kernel ends this process."""
        from grader.course import Submission

        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            path = Path(folder) / f"{assignment}.ipynb"
            path.write_bytes(data)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            try:
                return self._station.grade(Submission(student, assignment, assignment, path))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
