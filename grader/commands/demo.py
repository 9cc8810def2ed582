"""`python -m grader demo`: build a sample class for every lab, grade it, compare the scores.

Owns its arguments; the work is done in `grader.demo`.
"""

from __future__ import annotations

import argparse

from .. import demo
from ..sandbox import AUTO
from .common import add_sandbox

add_arguments = add_sandbox


def run(options: argparse.Namespace) -> int:
    """0 only when every score is the expected one."""
    return demo.run(options.sandbox or AUTO)
