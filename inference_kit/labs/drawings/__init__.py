"""What each answer did, as a picture: one module for each lab.

A lab's module owns two tables. `DRAWINGS` holds one function for each question; it sees the answer as
a `Subject`, exactly as a check does. `REFERENCE` holds the kit's own parts under the names of the
lab's questions, so that the same function also draws the expected picture.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from ..checking import LocalSubject, Subject


def draw(lab: str, question: str, subject: Subject | None = None) -> Any:
    """The picture of one answer, or of the kit's own when `subject` is None; None where there is none."""
    module = _module_of(lab)
    drawing = None if module is None else module.DRAWINGS.get(question)
    if module is None or drawing is None:
        return None
    return drawing(LocalSubject(module.REFERENCE) if subject is None else subject)


def drawn_questions(lab: str) -> set[str]:
    """The questions of a lab that have a picture."""
    module = _module_of(lab)
    return set() if module is None else set(module.DRAWINGS)


def _module_of(lab: str) -> ModuleType | None:
    name = f"{__name__}.{lab}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
