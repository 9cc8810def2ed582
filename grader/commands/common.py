"""Arguments that several commands share.

Owns their names, types and defaults, so that they mean the same everywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inference_kit.errors import InvalidField

from ..course import Course
from ..sandbox import LEVELS


def add_root(parser: argparse.ArgumentParser) -> None:
    """`--root`: the folder of the course."""
    parser.add_argument("--root", type=Path, default=Path(), help="the course (default: this folder)")


def add_sandbox(parser: argparse.ArgumentParser) -> None:
    """`--sandbox`: the level of confinement."""
    parser.add_argument("--sandbox", choices=LEVELS, help="level of confinement (default: auto)")


def add_assignments(parser: argparse.ArgumentParser) -> None:
    """Any number of assignments."""
    parser.add_argument("assignment", nargs="*", help="names of assignments (default: all with submissions)")


def positive(text: str) -> int:
    """An argument that is a whole number, 1 or more."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def wanted_assignments(course: Course, asked: Iterable[str]) -> list[str]:
    """The assignments asked for; all that have submissions when none is named.

    Raises `InvalidField` for a name that the course does not have.
    """
    known, asked = course.assignments(), list(asked)
    unknown = sorted(set(asked) - set(known))
    if unknown:
        raise InvalidField("assignment", ", ".join(unknown), f"one of {', '.join(known) or 'none here'}")
    return asked or [name for name in known if course.submissions(name)]
