"""The fast path: every submission of a course judged in parallel, by warm workers, once.

Owns the judges, the order of writing, and what happens when something dies. Invariant: a verdict
that was reached is in the log before anything else is written, so the next run never judges it
again; and no submission, and no death of a process, stops the others.
"""

from __future__ import annotations

import collections
import concurrent.futures
import ctypes
import fcntl
import gc
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.utils import is_grade
from tqdm import tqdm

from inference_kit.clock import Clock, MonotonicClock
from inference_kit.errors import KitError

from .cluster import judge_on_cluster
from .course import Course, Submission, released_form
from .gradebook import Writer
from .hooks import Judge
from .pipeline import Outcome, Settings, Station, file_digest
from .quick_start import PRELOAD
from .verdict_log import Grading, VerdictLog

LOCK_NAME = "grading.lock"
TRIES = 2
"""How often a submission is judged when its judge dies, before it is given up."""
SUBMISSION_S = 600.0
"""Wall time in which a submission must be judged, far beyond what its limits allow."""
PR_SET_PDEATHSIG = 1
START_METHOD = "forkserver"
"""Judges come from a process that has imported the grader and has no threads."""


class CourseBusy(KitError):
    """Two batches cannot write into one course at the same time."""


@dataclass
class Report:
    """What a batch did."""

    level: str
    graded: int = 0
    """Submissions that were written in this run."""
    cached: int = 0
    """Of these, how many had verdicts already."""
    current: int = 0
    """Submissions that needed nothing."""
    ungradable: dict[str, str] = field(default_factory=dict)
    """`student/assignment` and the reason."""
    failed: dict[str, str] = field(default_factory=dict)
    """Submissions that could not be graded for a reason that is not theirs."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds by stage, summed over all workers."""
    wall_s: float = 0.0


def settings_of(course: Course, level: str | None = None) -> Settings:
    """What the course's configuration says about judging, with the level that this machine gives."""
    judge = Judge(config=course.config)
    if level is not None:
        judge.sandbox = level
    return judge.settings()


def autograde(
    course: Course,
    assignments: Iterable[str],
    workers: int | None,
    settings: Settings,
    force: bool = False,
    clock: Clock | None = None,
    method: str = START_METHOD,
    cluster: str = "",
) -> Report:
    """Grade every submission of these assignments that is not graded yet.

    `force` writes all of them again; verdicts that the log has are used in any case.
    `workers`: judges at work at once; one for each processor when it is None.
    `cluster`: address of a Ray cluster whose machines judge; this machine does when it is empty.
    """
    clock = clock or MonotonicClock()
    start_s = clock.now()
    report = Report(settings.level)
    with only_grader(course):
        _autograde(course, assignments, workers, settings, force, clock, method, cluster, report)
    report.wall_s = clock.now() - start_s
    return report


def _autograde(
    course: Course,
    assignments: Iterable[str],
    workers: int | None,
    settings: Settings,
    force: bool,
    clock: Clock,
    method: str,
    cluster: str,
    report: Report,
) -> None:
    log, writer = VerdictLog(course.data), Writer(course)
    station = Station(course, settings, log.find)
    try:
        todo = []
        for assignment in assignments:
            writer.require_same_points(assignment, points_of(course, assignment))
            found = course.submissions(assignment)
            fresh = set(found if force else stale(found, station, log, writer, assignment))
            current = [submission for submission in found if submission not in fresh]
            report.current += len(current)
            for student, reason in writer.refresh_lateness(assignment, current).items():
                report.failed[f"{student}/{assignment}"] = reason
            todo += [submission for submission in found if submission in fresh]
        results = (
            judge_on_cluster(course, settings, todo, station, cluster, workers)
            if cluster
            else judge_all(course, settings, todo, workers or os.cpu_count() or 1, method)
        )
        with tqdm(total=len(todo), desc="autograde", unit="submission", disable=None) as bar:
            for submission, result in results:
                if isinstance(result, Outcome):
                    fault = try_to_record(report, log, writer, result, clock)
                else:
                    fault = result
                if fault:
                    report.failed[f"{submission.student}/{submission.assignment}"] = fault
                bar.update()
    finally:
        writer.close()
        log.close()


@contextmanager
def only_grader(course: Course) -> Iterator[None]:
    """Hold the course's lock. The kernel lets go of it when this process ends, however it ends."""
    with open(course.data / LOCK_NAME, "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CourseBusy(f"another grader is at work in {course.root}; wait for its end") from error
        yield


def try_to_record(report: Report, log: VerdictLog, writer: Writer, outcome: Outcome, clock: Clock) -> str:
    """Write one outcome. Why it could not be written, if the fault concerns this submission; else empty."""
    try:
        record(report, log, writer, outcome, clock)
    except (KitError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def record(report: Report, log: VerdictLog, writer: Writer, outcome: Outcome, clock: Clock) -> None:
    """Write one outcome: first the log, then the rest, which can be made again from it."""
    name = f"{outcome.submission.student}/{outcome.submission.assignment}"
    start_s = clock.now()
    log.add(outcome.grading, outcome.verdicts)
    logged_s = clock.now()
    writer.write(outcome)
    stages = {**outcome.stages, "log": logged_s - start_s, "gradebook": clock.now() - logged_s}
    for stage, seconds in stages.items():
        report.stages[stage] = report.stages.get(stage, 0.0) + seconds
    report.graded += 1
    report.cached += outcome.cached
    if outcome.grading.reason:
        report.ungradable[name] = outcome.grading.reason


def points_of(course: Course, assignment: str) -> dict[str, float]:
    """Points by graded cell, as the source notebook has them."""
    path = course.folder("source", ".", assignment) / f"{assignment}.ipynb"
    notebook = released_form(path, course.config)
    return {
        cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"])
        for cell in notebook.cells
        if is_grade(cell)
    }


def stale(
    found: list[Submission], station: Station, log: VerdictLog, writer: Writer, assignment: str
) -> list[Submission]:
    """Submissions whose file, checks, graded file or gradebook entry is not what the log says."""
    known, in_gradebook = log.latest(assignment), writer.auto_scores(assignment)
    return [
        submission
        for submission in found
        if not is_current(submission, known.get(submission.student), in_gradebook, station)
    ]


def is_current(
    submission: Submission, grading: Grading | None, in_gradebook: dict[str, float], station: Station
) -> bool:
    """True when nothing has to be done for a submission."""
    return (
        grading is not None
        and grading.file_digest != ""
        and grading.file_digest == file_digest(submission.path)
        and grading.version == station.version(submission.assignment)
        and abs(in_gradebook.get(submission.student, -1.0) - grading.earned) < 1e-9
        and station.graded_file(submission).is_file()
    )


# --- the judges -----------------------------------------------------------------------------------


class _Here:
    """What a judge's process holds between submissions."""

    station: Station | None = None


def _set_up(root: str, settings: Settings) -> None:
    """In a new judge: die with the parent, and open the course."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the alarm below ends the process, whoever set what
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    course = Course(Path(root))
    _Here.station = Station(course, settings, VerdictLog(course.data).find)
    gc.freeze()  # what is there now stays: a collection need not walk it again and again


def _grade(submission: Submission, limit_s: float) -> Outcome:
    """Grade one submission. A judge that takes longer than `limit_s` is ended by the kernel."""
    if _Here.station is None:
        raise RuntimeError("the judge was not set up")
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        return _Here.station.grade(submission)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _Judge:
    """One process that grades, replaced when it dies.

    Each has a pool of its own: when one of several processes of a pool dies, the standard
    library gives up the whole pool, and the death of one judge must not touch another.
    """

    def __init__(self, course: Course, settings: Settings, context: Any) -> None:
        self._context = context
        self._arguments = (str(course.root), settings)
        self._pool = self._new()

    def submit(self, submission: Submission) -> concurrent.futures.Future[Outcome]:
        """Start grading one submission."""
        try:
            return self._pool.submit(_grade, submission, SUBMISSION_S)
        except BrokenProcessPool:  # it died after its last result
            self.replace()
            return self._pool.submit(_grade, submission, SUBMISSION_S)

    def replace(self) -> None:
        """Take a new process for one that died."""
        self.close()
        self._pool = self._new()

    def close(self) -> None:
        """End the process when it has nothing to do."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, self._context, initializer=_set_up, initargs=self._arguments)


def judge_all(
    course: Course, settings: Settings, todo: list[Submission], workers: int, method: str = START_METHOD
) -> Iterator[tuple[Submission, Outcome | str]]:
    """(submission, its outcome or why there is none) as they finish, in no order.

    A judge that dies or hangs is replaced. What it worked on is tried again, and then given up.
    """
    context = multiprocessing.get_context(method)
    if method == START_METHOD:
        context.set_forkserver_preload(PRELOAD)
    waiting = collections.deque((submission, 1) for submission in todo)
    running: dict[concurrent.futures.Future[Outcome], tuple[_Judge, Submission, int]] = {}
    idle = [_Judge(course, settings, context) for _ in range(min(workers, len(todo)))]
    try:
        while waiting or running:
            while waiting and idle:
                judge, (submission, attempt) = idle.pop(), waiting.popleft()
                running[judge.submit(submission)] = judge, submission, attempt
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                judge, submission, attempt = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    judge.replace()
                idle.append(judge)
                result = future.result() if error is None else _in_words(error)
                if isinstance(result, str) and attempt < TRIES:
                    waiting.append((submission, attempt + 1))
                else:
                    yield submission, result
    finally:
        for judge in (*idle, *(judge for judge, _, _ in running.values())):
            judge.close()


def _in_words(error: BaseException) -> str:
    """Why a submission has no outcome."""
    if isinstance(error, BrokenProcessPool):
        return f"its judge died, or took more than {SUBMISSION_S:g} s"
    return f"{type(error).__name__}: {error}"
