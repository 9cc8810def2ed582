"""What a lab notebook calls: `check`, `hint`, `plug`, `quiz`, `show`, and what a learner may ask for.

The names load on first use, so importing this package costs a few milliseconds and never
imports torch, transformers or ipywidgets.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "check": "notebook",
    "hint": "notebook",
    "plug": "notebook",
    "show": "notebook",
    "quiz": "quizbook",
    "progress": "progress_table",
    "attempts": "attempt_log",
    "forget_attempts": "attempt_log",
    "log_attempts": "attempt_log",
}
"""Name to the module that has it."""
__all__ = ["attempts", "check", "forget_attempts", "hint", "log_attempts", "plug", "progress", "quiz", "show"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
