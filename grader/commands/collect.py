"""`python -m grader collect SOURCE…`: put submissions where nbgrader looks for them.

Owns its arguments and what it prints; the work is done in `grader.collect`.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from ..collect import Options, Report, collect, time_of
from ..course import Course
from ..roster import read_roster
from .common import add_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "source", nargs="+", type=Path, help="folders, zip archives of Canvas or Moodle, notebooks"
    )
    parser.add_argument("--roster", type=Path, metavar="CSV", help="who is who: id, names, numbers")
    parser.add_argument("--student", default="", help="all notebooks are of this learner")
    parser.add_argument("--assignment", default="", help="all notebooks are of this assignment")
    parser.add_argument(
        "--timestamp", type=moment, metavar="TIME", help="when the ones without a time were handed in (UTC)"
    )
    add_root(parser)


def moment(text: str) -> datetime:
    """An argument that is a time, in UTC unless it says otherwise."""
    found = time_of(text)
    if found is None:
        raise ValueError(text)
    return found


def run(options: argparse.Namespace) -> int:
    """Collect, and say what was done. 0 when every notebook has its place."""
    course = Course(options.root)
    roster = read_roster(options.roster) if options.roster else None
    said = Options(options.student, options.assignment, options.timestamp)
    report = collect(course, options.source, roster, said)
    print(as_text(report))
    return 1 if report.not_placed else 0


def as_text(report: Report) -> str:
    """What was done, in lines."""
    lines = [
        f"{len(report.placed)} placed, {len(report.replaced)} replaced by a newer one, "
        f"{len(report.same)} unchanged, {len(report.older)} older than the one in place, "
        f"{len(report.not_placed)} not placed"
    ]
    lines += [f"replaced: {name}" for name in report.replaced]
    lines += [f"older, left out: {name}" for name in report.older]
    lines += [f"note: {note}" for note in report.notes]
    lines += [f"NOT PLACED {name}: {reason}" for name, reason in report.not_placed]
    return "\n".join(printable(line) for line in lines)


def printable(line: str) -> str:
    """A line without signs that would move the cursor or change colours."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)
