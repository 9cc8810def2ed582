"""`python -m grader publish DIR`: write the learners' repository.

Owns its arguments and what it prints; the work is done in `grader.publish`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..publish import publish
from .common import add_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="a new, an empty or an earlier published folder"
    )
    add_root(parser)


def run(options: argparse.Namespace) -> int:
    """Publish, and say what changed."""
    done = publish(options.root.resolve(), options.folder)
    for name in done.removed:
        print(f"removed {name}")
    print(
        f"{options.folder}: {len(done.written)} files written, {len(done.removed)} removed, "
        f"{done.unchanged} unchanged; no hidden check and no solution is in them"
    )
    return 0
