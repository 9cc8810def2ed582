"""`python -m grader feedback`: write the feedback pages that are missing or out of date.

Owns its arguments and what it prints; the work is done in `grader.feedback_pages`.
"""

from __future__ import annotations

import argparse
import os

from ..batch import settings_of
from ..course import Course
from ..feedback_pages import write_pages
from .common import add_assignments, add_root, add_sandbox, positive, wanted_assignments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    add_assignments(parser)
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="pages made at once")
    parser.add_argument("--force", action="store_true", help="write also what is up to date")
    add_root(parser)
    add_sandbox(parser)


def run(options: argparse.Namespace) -> int:
    """Write pages, and say how many. 0 when every graded submission has its page."""
    course = Course(options.root)
    wanted = wanted_assignments(course, options.assignment)
    settings = settings_of(course, options.sandbox)
    report = write_pages(course, wanted, settings, options.workers, options.force)
    print(f"{report.written} pages written, {report.current} up to date")
    for name, reason in sorted(report.failed.items()):
        print(f"FAILED {name}: {reason}")
    return 1 if report.failed else 0
