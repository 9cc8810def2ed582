"""`python -m grader export`: write grades for a spreadsheet, for Canvas or for Moodle.

Owns its arguments and what it prints; the work is done in `grader.export`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..course import Course
from ..export import CSV, FORMATS, TO_READ, as_csv, read_grades, score_table, table_of, write_text
from ..roster import read_roster
from .common import add_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("assignment", nargs="*", help="names of assignments (default: all in the gradebook)")
    parser.add_argument("--format", choices=FORMATS, default=CSV, help="default: csv")
    parser.add_argument("--per-question", action="store_true", help="a line for each question, as csv")
    parser.add_argument("--roster", type=Path, metavar="CSV", help="names and numbers in Canvas or Moodle")
    parser.add_argument(
        "--title", action="append", default=[], type=title, metavar="ASSIGNMENT=TITLE",
        help="what an assignment is called in Canvas or Moodle",
    )  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, help="default: grader/exports/FORMAT.csv")
    add_root(parser)


def title(text: str) -> tuple[str, str]:
    """An argument of the form `ASSIGNMENT=TITLE`."""
    name, sign, told = text.partition("=")
    if not (name and sign and told):
        raise ValueError(text)
    return name, told


def run(options: argparse.Namespace) -> int:
    """Export, and say what was written."""
    course = Course(options.root)
    roster = read_roster(options.roster) if options.roster else None
    grades = read_grades(course, options.assignment, roster)
    table = table_of(grades, options.format, options.per_question, dict(options.title))
    default = "questions.csv" if options.per_question else f"{options.format}.csv"
    path = options.output or course.data / "exports" / default
    write_text(path, as_csv(table))
    open_ones = sum(row[-1] == TO_READ for row in score_table(grades)[1:])
    print(f"{path}: {len(table) - 1} lines")
    if open_ones:
        print(f"{open_ones} submissions still need a manual grade; their scores may change")
    return 0
