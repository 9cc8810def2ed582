"""Every attack and every honest oddity, graded in one batch at each level of confinement.

An attack gets the points that its file names, reads nothing, changes nothing of others, survives
nothing, and does not stop the batch. An honest oddity loses no point.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.batch import Report, autograde, settings_of
from grader.course import Course
from grader.demo import nbgrader
from grader.sandbox import BUBBLEWRAP, REPOSITORY, RLIMITS, SandboxUnavailable, choose
from grader.verdict_log import VerdictLog
from inference_kit.labs.checking import CheckResult
from tests.attacks.entries import Entry, entries, submit
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, POINTS

pytestmark = pytest.mark.slow

ATTACKS, HONEST = entries("corpus"), entries("honest")
LIMITS = "\nc.Judge.check_s = 1.0\nc.Judge.cell_s = 1.0\n"
NEIGHBOUR = "honest"
LONG_NUMBER = re.compile(r"LEAK *-?\d{3,}")


@dataclass
class Batch:
    """A course in which the whole corpus was graded."""

    root: Path
    report: Report
    scores: dict[str, dict[str, float | None]]
    """Points by student and question."""
    results: dict[str, list[CheckResult]]
    secret: str
    connected: bool
    """Whether somebody reached the port that listened."""
    survivors: list[int]
    changed: list[str]
    """Files of the course, apart from what grading writes, that are not as before."""


def entries_at(level: str) -> list[Entry]:
    return [entry for entry in (*ATTACKS, *HONEST) if level in entry.holds]


def digests(root: Path) -> dict[str, str]:
    """SHA-256 of every file of the course that grading must not change."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in (root / "solutions", root / "grader" / "submitted", root / "labs")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 22
    }


def processes_named(name: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def grade_all(root: Path, level: str) -> Batch:
    """Grade the corpus at one level."""
    secret, survivor = f"canary-{secrets.token_hex(8)}", f"survivor-{secrets.token_hex(8)}"
    fake_lab.make_course(root)
    checks = root / "solutions" / ASSIGNMENT / "checks.py"
    checks.write_text(f"# {secret}\n{checks.read_text('utf-8')}", encoding="utf-8")
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(LIMITS)
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    fake_lab.submit(root, NEIGHBOUR, fake_lab.submission())
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {
            "COURSE": str(root),
            "REPOSITORY": str(REPOSITORY),
            "PID": str(os.getpid()),
            "PORT": str(server.getsockname()[1]),
            "SURVIVOR": survivor,
        }
        for entry in entries_at(level):
            submit(root, entry, names)
        before = digests(root)
        course = Course(root)
        os.environ["GRADER_SECRET"] = secret
        try:
            report = autograde(course, [ASSIGNMENT], 2, settings_of(course, level), method="fork")
        finally:
            del os.environ["GRADER_SECRET"]
        server.setblocking(False)
        try:
            server.accept()[0].close()
            connected = True
        except BlockingIOError:
            connected = False
    after = digests(root)
    return Batch(
        root,
        report,
        scores_of(root),
        results_of(course),
        secret,
        connected,
        processes_named(survivor),
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)),
    )


def scores_of(root: Path) -> dict[str, dict[str, float | None]]:
    with Gradebook(f"sqlite:///{root / 'grader' / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.name.removeprefix("lab90-"): grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.name.removeprefix("lab90-") in POINTS
            }
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def results_of(course: Course) -> dict[str, list[CheckResult]]:
    log = VerdictLog(course.data)
    try:
        assert log.unsigned() == 0
        return {
            student: [result for verdict in log.find(grading.key) or () for result in verdict.results]
            for student, grading in log.latest(ASSIGNMENT).items()
        }
    finally:
        log.close()


@pytest.fixture(
    scope="module", params=[pytest.param(BUBBLEWRAP, marks=pytest.mark.sandbox), pytest.param(RLIMITS)]
)
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    """The corpus, graded at each level in turn."""
    try:
        choose(request.param)
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    yield grade_all(tmp_path_factory.mktemp("attacked") / "course", request.param)


def test_every_attack_and_oddity_gets_the_score_it_must_get(batch: Batch) -> None:
    wrong = {
        entry.name: (batch.scores.get(entry.name), entry.scores)
        for entry in entries_at(batch.report.level)
        if batch.scores.get(entry.name) != entry.scores
    }
    assert wrong == {}


def test_nothing_stops_the_batch_and_nobody_elses_score_changes(batch: Batch) -> None:
    assert batch.report.failed == {}
    assert batch.report.graded == len(entries_at(batch.report.level)) + 1
    assert batch.scores[NEIGHBOUR] == POINTS


def test_no_hidden_check_and_no_secret_comes_out(batch: Batch) -> None:
    leaks = [
        (student, result.name)
        for student, results in batch.results.items()
        for result in results
        if batch.secret in result.message
        or "STOLEN" in result.message
        or LONG_NUMBER.search(result.message)
        or (not result.visible and "LEAK" in result.message.replace("LEAKY", ""))
    ]
    assert leaks == []
    for path in (batch.root / "grader" / "autograded").rglob("*"):
        if path.is_file():
            assert batch.secret not in path.read_text("utf-8", "replace"), path


def test_nothing_survives_and_nothing_is_changed(batch: Batch) -> None:
    assert batch.survivors == []
    assert batch.changed == []
    assert not (batch.root / "made-by-shell").exists()


def test_nobody_reaches_the_network(batch: Batch) -> None:
    assert not batch.connected


def test_no_script_of_a_learner_is_in_an_output(batch: Batch) -> None:
    for path in (batch.root / "grader" / "autograded").glob(f"*/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", ()):
                assert "<script>evil" not in output.get("data", {}).get("text/html", ""), path


def test_the_corpus_is_as_large_as_it_was_promised() -> None:
    assert len(ATTACKS) >= 60
    assert len(HONEST) >= 20
    assert all(BUBBLEWRAP in entry.holds for entry in (*ATTACKS, *HONEST))
    assert all(RLIMITS in entry.holds for entry in HONEST)
    full = {question: float(points) for question, points in POINTS.items()}
    assert all(entry.scores == full for entry in HONEST)
