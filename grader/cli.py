"""`python -m grader`: what an instructor runs beside nbgrader's own commands.

    autograde  judge every submission of the course, in parallel
    doctor     which sandbox this machine gives, and what it stops
    demo       build a sample class for every lab, grade it, compare the scores

Owns arguments and printing; the work is done in `grader.batch`, `grader.doctor` and `grader.demo`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from inference_kit.errors import InvalidField, KitError

from . import batch, demo, doctor
from .course import Course
from .sandbox import AUTO, BUBBLEWRAP, LEVELS, RLIMITS, choose
from .verdict import PROVISIONAL


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 only when everything held."""
    parser = argparse.ArgumentParser(
        prog="python -m grader", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    commands = parser.add_subparsers(dest="command", required=True)
    grade = commands.add_parser("autograde", help="judge every submission, in parallel")
    grade.add_argument("assignment", nargs="*", help="names of assignments (default: all with submissions)")
    grade.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="judges at work at once")
    grade.add_argument("--force", action="store_true", help="write also what is graded and unchanged")
    grade.add_argument("--root", type=Path, default=Path(), help="the course (default: this folder)")
    examine = commands.add_parser("doctor", help="what the sandbox here stops")
    sample = commands.add_parser("demo", help="grade a sample class for every lab")
    for command in (grade, examine, sample):
        command.add_argument("--sandbox", choices=LEVELS, help="level of confinement (default: auto)")
    options = parser.parse_args(argv)
    try:
        if options.command == "autograde":
            return run_autograde(options)
        level = options.sandbox or AUTO
        return run_doctor(level) if options.command == "doctor" else demo.run(level)
    except KitError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 1


def positive(text: str) -> int:
    """An argument that is a whole number, 1 or more."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def run_autograde(options: argparse.Namespace) -> int:
    """Grade, and say what was done. 0 when every submission is graded or ungradable with a reason."""
    course = Course(options.root)
    known = course.assignments()
    unknown = sorted(set(options.assignment) - set(known))
    if unknown:
        raise InvalidField("assignment", ", ".join(unknown), f"one of {', '.join(known) or 'none here'}")
    wanted = options.assignment or [name for name in known if course.submissions(name)]
    report = batch.autograde(
        course, wanted, options.workers, batch.settings_of(course, options.sandbox), options.force
    )
    print(as_text(report))
    return 1 if report.failed else 0


def as_text(report: batch.Report) -> str:
    """What a batch did, in lines."""
    rate = f", {60 * report.graded / report.wall_s:.0f} a minute" if report.graded else ""
    lines = [
        f"sandbox level: {report.level}",
        f"graded {report.graded} in {report.wall_s:.1f} s{rate}; "
        f"{report.cached} of them from the log of verdicts, {report.current} needed nothing",
    ]
    if report.level == RLIMITS:
        lines.append(PROVISIONAL)
    lines += [f"  {stage:<10}{seconds:8.2f} s" for stage, seconds in report.stages.items()]
    lines += [f"not graded: {name}: {reason}" for name, reason in sorted(report.ungradable.items())]
    lines += [f"FAILED {name}: {reason}" for name, reason in sorted(report.failed.items())]
    return "\n".join(lines)


def run_doctor(level: str) -> int:
    """Print the level and the outcome of every probe. 0 when bubblewrap stops all of them."""
    sandbox = choose(level)
    print(f"sandbox level: {sandbox.level}")
    if sandbox.level != BUBBLEWRAP:
        print("  bubblewrap (bwrap) is missing or cannot be used here; grades are provisional")
    held = True
    for name, stopped in doctor.examine(sandbox):
        print(f"  {'stopped    ' if stopped else 'NOT STOPPED'}  {name}", flush=True)
        held = held and stopped
    return 0 if held else 1
