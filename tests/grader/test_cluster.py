"""Grading on a Ray cluster: the same scores as here, also when a machine is lost."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader import cluster
from grader.batch import autograde, settings_of
from grader.cluster import ClusterUnavailable, archive_of, last_line
from grader.course import Course
from grader.demo import nbgrader
from grader.sandbox import REPOSITORY, RLIMITS
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT, REFERENCE

PACKAGES = Path(sys.prefix) / "var" / "cluster"
"""Where `make cluster` puts the packages of `requirements-cluster.lock`."""
STUDENTS = 8


def make_class(root: Path) -> Path:
    """A course whose submissions are right, wrong, damaged and unanswered."""
    fake_lab.make_course(root)
    for number in range(STUDENTS):
        fault = ("x * x", "x", "x ** 2", "1 / 0")[number % 4]
        answers = {**REFERENCE, "q1": f"def square(x):\n    return {fault}  # {number}\n"}
        fake_lab.submit(root, f"s{number}", fake_lab.submission(**answers))
    folder = root / "grader" / "submitted" / "damaged" / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").write_text("not a notebook")
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    return root


def scores(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root / 'grader' / 'gradebook.db'}") as gradebook:
        return {row.student.id: row.score for row in gradebook.assignment_submissions(ASSIGNMENT)}


@pytest.mark.slow
@pytest.mark.cluster
def test_two_nodes_of_which_one_is_lost_give_the_scores_of_one_machine(tmp_path: Path) -> None:
    if not (PACKAGES / "ray").is_dir():
        pytest.skip("Ray is not there; `make cluster` fetches it")
    here, there = make_class(tmp_path / "here"), make_class(tmp_path / "there")
    course = Course(here)
    autograde(course, [ASSIGNMENT], 1, settings_of(course, RLIMITS), method="fork")
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH", ""), str(PACKAGES)]))
    done = subprocess.run(
        [sys.executable, "-m", "tests.grader.cluster_run", str(there), RLIMITS],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["nodes"] == [2]
    assert said["failed"] == {}
    assert set(said["ungradable"]) == {f"damaged/{ASSIGNMENT}"}
    assert said["graded"] == STUDENTS + 1
    assert said["again"] == [STUDENTS + 1, STUDENTS + 1]
    assert scores(there) == scores(here)
    assert len(set(scores(here).values())) >= 3


def test_a_machine_gets_the_code_and_its_labs_and_no_grades(tmp_path: Path) -> None:
    course = Course(make_class(tmp_path / "course"))
    with zipfile.ZipFile(io.BytesIO(archive_of(course, [ASSIGNMENT]))) as packed:
        names = set(packed.namelist())
    assert {"code/grader/worker.py", "code/inference_kit/labs/plain.py", "course/nbgrader_config.py"} <= names
    assert {name.split("/")[1] for name in names} == {
        "grader",
        "inference_kit",
        "solutions",
        "nbgrader_config.py",
    }
    assert not [name for name in names if "submitted" in name or name.endswith((".db", ".key"))]


def test_without_ray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterUnavailable, match="pip install"):
        cluster.import_ray()


def test_a_long_error_is_told_by_its_last_line() -> None:
    assert last_line(ValueError("Traceback\n  file\nValueError: too old\n\n")) == "ValueError: too old"
    assert last_line(ValueError()) == "ValueError"
