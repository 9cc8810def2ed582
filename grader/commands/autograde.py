"""`python -m grader autograde`: judge every submission of the course, in parallel.

Owns its arguments and what it prints; the work is done in `grader.batch`.
"""

from __future__ import annotations

import argparse

from .. import batch
from ..cluster import AUTO_ADDRESS
from ..course import Course
from ..sandbox import RLIMITS
from ..verdict import PROVISIONAL
from .common import add_assignments, add_root, add_sandbox, positive, wanted_assignments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    add_assignments(parser)
    parser.add_argument(
        "--workers", type=positive, help="judges at work at once (default: one for each processor)"
    )
    parser.add_argument(
        "--cluster",
        nargs="?",
        const=AUTO_ADDRESS,
        default="",
        metavar="ADDRESS",
        help="judge on the machines of a Ray cluster (default address: the cluster of this machine)",
    )
    parser.add_argument("--force", action="store_true", help="write also what is graded and unchanged")
    add_root(parser)
    add_sandbox(parser)


def run(options: argparse.Namespace) -> int:
    """Grade, and say what was done. 0 when every submission is graded or ungradable with a reason."""
    course = Course(options.root)
    wanted = wanted_assignments(course, options.assignment)
    settings = batch.settings_of(course, options.sandbox)
    report = batch.autograde(
        course, wanted, options.workers, settings, options.force, cluster=options.cluster
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
