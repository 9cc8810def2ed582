"""`python -m grader`: what an instructor runs beside nbgrader's own commands.

    doctor   which sandbox this machine gives, and what it stops
    demo     build a sample class, grade it with the stock commands, compare the scores

Owns arguments and printing; the work is done in `grader.doctor` and `grader.demo`.
"""

from __future__ import annotations

import argparse
import sys

from inference_kit.errors import KitError

from . import demo, doctor
from .sandbox import AUTO, BUBBLEWRAP, LEVELS, choose


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 only when everything held."""
    parser = argparse.ArgumentParser(
        prog="python -m grader", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("doctor", "what the sandbox here stops"), ("demo", "grade a sample class")):
        command = commands.add_parser(name, help=text)
        command.add_argument(
            "--sandbox", choices=LEVELS, default=AUTO, help="level of confinement (default: auto)"
        )
    options = parser.parse_args(argv)
    try:
        return run_doctor(options.sandbox) if options.command == "doctor" else demo.run(options.sandbox)
    except KitError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 1


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
