"""A process that starts one grading run after another, so that a test can kill them at any point.

Started as `python -m tests.grader.run_and_die ROOT`. Each line on stdin forks a run in a new
process group and prints its number; when the run has ended, its exit status is printed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from grader.batch import autograde, settings_of
from grader.course import Course
from grader.sandbox import RLIMITS
from tests.grader.fake_lab import ASSIGNMENT


def run(root: Path, level: str) -> None:
    course = Course(root)
    report = autograde(course, [ASSIGNMENT], 2, settings_of(course, level), method="fork")
    if report.failed:
        raise SystemExit(f"not graded: {report.failed}")


def main(root: Path, level: str = RLIMITS) -> None:
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            status = 1
            try:
                run(root, level)
                status = 0
            finally:
                os._exit(status)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
