"""A grading run that is killed at any point loses no finished verdict and damages no file."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.batch import autograde, settings_of
from grader.course import Course
from grader.demo import nbgrader
from grader.sandbox import BUBBLEWRAP, REPOSITORY, SandboxUnavailable, choose
from grader.verdict_log import VerdictLog
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, FULL

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

KILLS = 54
STUDENTS = 10
LONGEST_S = 60


@contextmanager
def launcher(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that starts grading runs on request."""
    command = [sys.executable, "-m", "tests.grader.run_and_die", str(root), BUBBLEWRAP]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def start(process: subprocess.Popen[str]) -> int:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("run\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def status(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def ended_within(pid: int, seconds: float) -> bool:
    """Wait for the end of a process, and say whether it came in time."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(1000 * seconds))
    finally:
        os.close(handle)


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        own = [int(number) for number in file.read().split()]
    for task in Path(f"/proc/{pid}/task").iterdir():
        own += [int(number) for number in (task / "children").read_text().split()]
    return sorted(set(own))


def kill(pid: int, victim: str, rng: random.Random) -> None:
    """Kill the grader, one of its judges, or everything of the run."""
    if victim == "group":
        os.killpg(pid, signal.SIGKILL)
    elif victim == "grader":
        os.kill(pid, signal.SIGKILL)
    else:
        judges = children_of(pid)
        if judges:
            os.kill(rng.choice(judges), signal.SIGKILL)


def sound(path: Path) -> bool:
    """SQLite's own word on a file; one that does not exist yet is sound."""
    if not path.exists():
        return True
    with closing(sqlite3.connect(path)) as base:
        return [row[0] for row in base.execute("PRAGMA integrity_check")] == ["ok"]


def make_class(root: Path) -> dict[str, int]:
    """A course with submissions; returns the score each must get."""
    fake_lab.make_course(root)
    expected = {}
    for number in range(STUDENTS):
        student = f"s{number:02}"
        wrong = number % 3 == 1
        # Every text differs: no verdict is shared between two students.
        answer = f"def square(x):\n    return {'x' if wrong else 'x * x'}  # {number}\n"
        fake_lab.submit(root, student, fake_lab.submission(q1=f"number = {number}\n{answer}"))
        expected[student] = FULL - 5 if wrong else FULL
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    return expected


def forget(root: Path) -> None:
    """Remove everything that grading wrote, so that the next run starts anew."""
    grader = root / "grader"
    for path in grader.glob("verdicts.db*"):
        path.unlink()
    with Gradebook(f"sqlite:///{grader / 'gradebook.db'}") as gradebook:
        for student in [student.id for student in gradebook.students]:
            gradebook.remove_student(student)


def test_a_killed_run_loses_nothing(tmp_path: Path) -> None:
    try:
        choose(BUBBLEWRAP)
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    rng = random.Random(5)
    expected = make_class(tmp_path / "course")
    root = tmp_path / "course"
    data = root / "grader"
    longest_s, kills, whole_runs = 1.0, {"group": 0, "grader": 0, "judge": 0}, 0
    with launcher(root) as process:
        known: set[tuple[str, str]] = set()
        while sum(kills.values()) < KILLS:
            victim = rng.choice(sorted(kills))
            pid = start(process)
            if ended_within(pid, rng.uniform(0, longest_s)):
                whole_runs += 1
                assert status(process) == 0
                assert scores(root) == expected
                forget(root)
                known = set()
                continue
            kill(pid, victim, rng)
            kills[victim] += 1
            assert ended_within(pid, LONGEST_S)
            # A run that was leaving when the signal came has its own status.
            assert status(process) in ((0,) if victim == "judge" else (0, -signal.SIGKILL))
            assert sound(data / "gradebook.db") and sound(data / "verdicts.db")
            now = finished(data)
            assert known <= now, "a finished verdict was lost"
            assert len(now) == len({student for student, _ in now}), "a submission was judged twice"
            known = now
        # The next run finishes the rest, with the verdicts that are there.
        course = Course(root)
        report = autograde(course, [ASSIGNMENT], 2, settings_of(course, BUBBLEWRAP), method="fork")
    assert report.graded + report.current == STUDENTS
    assert report.cached + report.current >= len(known)
    assert scores(root) == expected
    for student in expected:
        path = data / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        assert json.loads(path.read_text())["nbformat"] == 4
    assert not list(data.rglob(".*.draft")), "a draft was left behind"


def finished(data: Path) -> set[tuple[str, str]]:
    """(student, judgement) of every verdict in the log."""
    if not (data / "verdicts.db").exists():
        return set()
    log = VerdictLog(data)
    try:
        assert log.unsigned() == 0
        return {(row.student, row.key) for row in log.gradings()}
    finally:
        log.close()


def scores(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root / 'grader' / 'gradebook.db'}") as gradebook:
        return {row.student.id: row.score for row in gradebook.assignment_submissions(ASSIGNMENT)}
