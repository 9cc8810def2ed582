"""`python -m grader similar LAB`: list submissions that are alike, for a person to look at.

Owns its arguments and what it prints; the comparison is in `grader.similar`.
"""

from __future__ import annotations

import argparse

from ..course import Course
from ..similar import THRESHOLD, Comparison, compare
from .common import add_root, wanted_assignments

HINT = (
    "This is a hint for a person, not a verdict: short right answers can be alike by chance.\n"
    "No grade depends on it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("lab", help="name of an assignment")
    parser.add_argument(
        "--threshold",
        type=share,
        default=THRESHOLD,
        help=f"share in common from which a pair is listed (default: {THRESHOLD})",
    )
    add_root(parser)


def share(text: str) -> float:
    """An argument from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def run(options: argparse.Namespace) -> int:
    """Compare, and print the table."""
    course = Course(options.root)
    (assignment,) = wanted_assignments(course, [options.lab])
    print(as_text(compare(course, assignment, options.threshold)))
    return 0


def as_text(found: Comparison) -> str:
    """The table, in lines."""
    lines = [f"{found.compared} submissions compared with each other and with the kit's own code"]
    if found.pairs:
        lines.append(f"{'in common':>9}{'shingles':>10}  pair")
    lines += [f"{each.share:>9.0%}{each.shared:>10}  {each.first} | {each.second}" for each in found.pairs]
    if not found.pairs:
        lines.append("no pair is that much alike")
    lines += [f"not compared: {student}: {reason}" for student, reason in sorted(found.left_out.items())]
    return "\n".join([*lines, HINT])
