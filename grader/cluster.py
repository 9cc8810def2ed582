"""Grading on the machines of a Ray cluster: `python -m grader autograde --cluster`.

Owns the judges on other machines and what becomes of the submissions of one that is lost. Scores,
log and gradebook are written here, as for one machine. Invariant: every submission comes back with
an outcome or the reason why it has none, and a lost machine costs time only.
"""

from __future__ import annotations

import collections
import importlib
import io
import pickle
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from inference_kit.errors import KitError

from . import node
from .course import CODE_ROOMS, Course, CourseMismatch, Submission
from .pipeline import Outcome, Settings, Station, file_digest

AUTO_ADDRESS = "auto"
READY_S = 300.0
"""How long a judge may take to start before the cluster counts as lost."""
SUBMISSION_S = 600.0
TRIES = 3
"""How often a submission is judged when its judge is lost: the machine may be at fault."""
CONFIG_NAME = "nbgrader_config.py"


class ClusterUnavailable(KitError):
    """There is no cluster, or no machine of it is left that can judge; the message says why."""


def judge_on_cluster(
    course: Course,
    settings: Settings,
    todo: Sequence[Submission],
    station: Station,
    address: str,
    workers: int | None = None,
) -> Iterator[tuple[Submission, Outcome | str]]:
    """(submission, its outcome or why there is none) as they finish, in no order.

    `station` grades what needs no judge: what the log knows, and files that cannot be read.
    `workers`: judges at work at once; one for each processor of the cluster when it is None.
    Raises `ClusterUnavailable`.
    """
    away = []
    for submission in todo:
        if not file_digest(submission.path) or station.is_known(submission):
            yield submission, station.grade(submission)
        else:
            away.append(submission)
    if not away:
        return
    ray = import_ray()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ClusterUnavailable(f"no Ray cluster answers at {address}: {error}") from error
    try:
        fleet = Fleet(ray, course, settings, {each.assignment for each in away}, station, workers, len(away))
        yield from fleet.judge(away)
    finally:
        ray.shutdown()


def import_ray() -> ModuleType:
    """Ray, which only this way of grading needs. Raises `ClusterUnavailable`."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ClusterUnavailable("Ray is not installed: pip install 'inference_kit[cluster]'") from error


def archive_of(course: Course, assignments: Sequence[str]) -> bytes:
    """The grader, the kit, and what a judge needs of the course, as one zip file."""
    files = {path: f"{node.CODE}/{room.name}/{path.relative_to(room)}" for room, path in code_files()}
    files[course.root / CONFIG_NAME] = f"{node.COURSE}/{CONFIG_NAME}"
    for assignment in assignments:
        folder = course.folder("source", ".", assignment)
        if not folder.is_relative_to(course.root):
            raise CourseMismatch(f"{folder} is outside of {course.root}; a cluster gets that folder only")
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".ipynb", ".toml"):
                files[path] = f"{node.COURSE}/{path.relative_to(course.root)}"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, name in sorted(files.items(), key=lambda item: item[1]):
            packed.write(path, name)
    return buffer.getvalue()


def code_files() -> Iterator[tuple[Path, Path]]:
    """(room, file) of our own code."""
    for room in CODE_ROOMS:
        for path in room.rglob("*.py"):
            yield room, path


class Fleet:
    """The judges of one run. A judge is a Ray actor that has one processor."""

    def __init__(
        self,
        ray: ModuleType,
        course: Course,
        settings: Settings,
        assignments: set[str],
        station: Station,
        workers: int | None,
        most: int,
    ) -> None:
        self._ray: Any = ray
        self._ray.cloudpickle.register_pickle_by_value(node)
        self._actor: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(node.NodeJudge)
        names = sorted(assignments)
        self._given: tuple[Any, ...] = (
            self._ray.put(archive_of(course, names)),
            pickle.dumps(settings),
            {name: station.version(name) for name in names},
        )
        self._starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, Submission, int]] = {}
        self._troubles: list[str] = []
        processors = int(self._ray.cluster_resources().get("CPU", 0))
        for _ in range(min(workers or processors, most)):
            self._start()

    def judge(self, todo: Sequence[Submission]) -> Iterator[tuple[Submission, Outcome | str]]:
        """Outcomes as they come. Raises `ClusterUnavailable` when no judge is left."""
        waiting = collections.deque((submission, 1) for submission in todo)
        while waiting or self._running:
            while waiting and self._idle:
                self._give(self._idle.pop(), *waiting.popleft())
            reference = self._next()
            if reference in self._starting:
                self._welcome(reference)
                continue
            judge, submission, attempt = self._running.pop(reference)
            result = self._result(reference, judge, submission)
            if isinstance(result, str) and attempt < TRIES:
                waiting.append((submission, attempt + 1))
            else:
                yield submission, result

    def _start(self) -> None:
        judge = self._actor.remote(*self._given)
        self._starting[judge.ready.remote()] = judge

    def _give(self, judge: Any, submission: Submission, attempt: int) -> None:
        data = submission.path.read_bytes()
        reference = judge.grade.remote(submission.student, submission.assignment, data, SUBMISSION_S)
        self._running[reference] = judge, submission, attempt

    def _next(self) -> Any:
        """The next reference that is done."""
        references = [*self._running, *self._starting]
        wait_s = None if self._running else READY_S
        done = self._ray.wait(references, num_returns=1, timeout=wait_s)[0] if references else []
        if not done:
            why = "; ".join(dict.fromkeys(self._troubles)) or f"none started within {READY_S:g} s"
            raise ClusterUnavailable(f"no machine of the cluster can judge: {why}")
        return done[0]

    def _welcome(self, reference: Any) -> None:
        """A judge has started, or could not. One that could not is not tried again."""
        judge = self._starting.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._troubles.append(last_line(error))
        else:
            self._idle.append(judge)

    def _result(self, reference: Any, judge: Any, submission: Submission) -> Outcome | str:
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(reference)
        except errors.RayTaskError as error:  # the judge lives
            self._idle.append(judge)
            return last_line(error)
        except errors.RayError as error:  # the judge, or its machine, is gone
            self._start()
            return f"its judge was lost: {last_line(error)}"
        self._idle.append(judge)
        return replace(outcome, submission=submission)


def last_line(error: BaseException) -> str:
    """The end of a long error text, where the cause stands."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
