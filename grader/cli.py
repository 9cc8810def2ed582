"""`python -m grader`: what an instructor runs beside nbgrader's own commands.

Owns the list of commands. A command is a module of `grader.commands` with its name, which has
`add_arguments(parser)` and `run(options)`; only the one that is asked for is imported. To add
one, write the module and add its line to `COMMANDS`.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from inference_kit.errors import KitError

COMMANDS = {
    "autograde": "judge every submission of the course, in parallel",
    "collect": "put submissions from folders, archives and Colab where they are graded",
    "feedback": "write the feedback pages that are missing or out of date",
    "export": "write grades for a spreadsheet, for Canvas or for Moodle",
    "publish": "write the learners' repository: labs, course and kit, without solutions",
    "similar": "list submissions that are alike, for a person to look at",
    "doctor": "which sandbox this machine gives, and what it stops",
    "demo": "build a sample class for every lab, grade it, compare the scores",
}
"""Name of each command and what it does, in the order of `--help`."""


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 only when everything held."""
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        prog="python -m grader", description="What an instructor runs beside nbgrader's own commands."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {
        name: commands.add_parser(name, help=text, description=text) for name, text in COMMANDS.items()
    }
    if not argv or argv[0] not in COMMANDS:
        parser.parse_args(argv)  # prints the help or the fault, and ends
        return 2
    command = importlib.import_module(f"{__package__}.commands.{argv[0]}")
    command.add_arguments(parsers[argv[0]])
    try:
        return int(command.run(parser.parse_args(argv)))
    except KitError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 1
