"""A quick start of the grader: import this first.

Owns nothing but time. jsonschema, which nbformat needs, tries to import a checker of
international web addresses that takes more than half of the start-up to build; a notebook's
schema has no such addresses. It is kept out of this one import, and is there for everybody else.
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing import forkserver

NEVER_USED = "rfc3987_syntax"
PRELOAD = ["grader.quick_start", "grader.batch"]
"""What a judge has imported before its first submission."""

if NEVER_USED not in sys.modules and "jsonschema" not in sys.modules:
    sys.modules[NEVER_USED] = None  # type: ignore[assignment]  # the import system reads it as "not there"
    try:
        import nbformat  # noqa: F401
    finally:
        del sys.modules[NEVER_USED]


def start_judges() -> None:
    """Start the process that judges are forked from. It imports the grader on its own."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
    forkserver.ensure_running()
