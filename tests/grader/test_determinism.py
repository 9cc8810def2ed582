"""Two gradings of the same work agree in every score and every word, with any number of judges."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course import Course
from grader.demo import SampleLab, nbgrader, prepare_root, sample_class, submit
from grader.sandbox import REPOSITORY
from grader.verdict_log import VerdictLog

pytestmark = pytest.mark.slow

LAB = "lab02_metrics"
CODE = ("grader", "inference_kit")


def grade(root: Path, code: Path, workers: int, hash_seed: str) -> dict[str, Any]:
    """Grade a course with the grader in `code`: everything that the log holds, but the times."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", "autograde", LAB, "--workers", str(workers), "--root", str(root)],
        cwd=code,
        env={**os.environ, "PYTHONPATH": str(code), "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    log = VerdictLog(Course(root).data)
    try:
        return {
            student: (
                grading.key,
                grading.flags,
                [asdict(verdict) for verdict in log.find(grading.key) or ()],
            )
            for student, grading in log.latest(LAB).items()
        }
    finally:
        log.close()


def test_two_clones_and_any_number_of_judges_give_the_same_scores_and_messages(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    prepare_root(first, [LAB])
    nbgrader(first, "generate_assignment", LAB)
    released = nbformat.read(first / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
    samples = sample_class(SampleLab(REPOSITORY / "solutions" / LAB, released))
    submit(first, LAB, samples)
    shutil.copytree(first, second)
    for code in (tmp_path / "clone", tmp_path / "another clone"):
        for room in CODE:
            ignore = shutil.ignore_patterns("__pycache__", "submitted", "autograded", "feedback", "*.db*")
            shutil.copytree(REPOSITORY / room, code / room, ignore=ignore)
    one = grade(first, tmp_path / "clone", 1, "1")
    other = grade(second, tmp_path / "another clone", 3, "2")
    assert set(one) == {sample.student for sample in samples}
    assert one == other
