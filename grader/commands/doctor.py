"""`python -m grader doctor`: which sandbox this machine gives, and what it stops.

Owns its arguments and what it prints; the probes are in `grader.doctor`.
"""

from __future__ import annotations

import argparse

from .. import doctor
from ..sandbox import AUTO, BUBBLEWRAP, choose
from .common import add_sandbox

add_arguments = add_sandbox


def run(options: argparse.Namespace) -> int:
    """Print the level and the outcome of every probe. 0 when bubblewrap stops all of them."""
    sandbox = choose(options.sandbox or AUTO)
    print(f"sandbox level: {sandbox.level}")
    if sandbox.level != BUBBLEWRAP:
        print("  bubblewrap (bwrap) is missing or cannot be used here; grades are provisional")
    held = True
    for name, stopped in doctor.examine(sandbox):
        print(f"  {'stopped    ' if stopped else 'NOT STOPPED'}  {name}", flush=True)
        held = held and stopped
    return 0 if held else 1
