"""Puts a learner's parts into the engine: one module for each lab that plugs in.

Owns `Parts`, the base of what `plug` returns; a lab's module names its class `PLUG`. Invariant: the engine
gets only parts that pass their visible checks, so that a wrong one cannot make it run for ever; for the
others it gets the kit's, and the printed summary says which and why.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any, ClassVar

from ..checking import LocalSubject, run_check
from ..notebook import SEED, load_visible

DONE, WRONG, WAITING = "done", "wrong", "not done yet"

SAYS = {
    DONE: "yours",
    WRONG: "wrong, so the engine gets the one of the kit; check({question!r}) says why",
    WAITING: "not done yet, so the engine gets the one of the kit",
}


def words_of(lab: str, names: Mapping[str, Any]) -> dict[str, str]:
    """By question, the word that `check` would say of its answer: done, wrong, or not done yet."""
    checks, _ = load_visible(lab)
    subject = LocalSubject(names)
    words = {}
    for question in checks.questions:
        statuses = {run_check(check, subject, SEED).status for check in checks.of(question)}
        if statuses & {"not_done", "missing"}:
            words[question] = WAITING
        else:
            words[question] = DONE if statuses == {"passed"} else WRONG
    return words


class Parts:
    """The parts of one lab.

    Attributes:
        lab: "lab01", …; set by the subclass.
        questions: by question, the name that the learner defines; set by the subclass.
        words: by question, "done", "wrong" or "not done yet".
    """

    lab: ClassVar[str]
    questions: ClassVar[dict[str, str]]

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.words = words_of(self.lab, names)
        self._names = names

    def part(self, question: str, kit: Any, *, also_wrong: bool = False) -> Any:
        """The learner's part when it is done (or wrong, where that may be tried); else the kit's."""
        wanted = {DONE, WRONG} if also_wrong else {DONE}
        return self._names[self.questions[question]] if self.words[question] in wanted else kit

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {SAYS[self.words[question]].format(question=f'{self.lab}.{question}')}"
            for question, name in self.questions.items()
        )


def pluggable() -> list[str]:
    """The labs whose parts plug into the engine."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def parts_of(lab: str, names: Mapping[str, Any]) -> Parts:
    """The parts of a lab from the names of a notebook; `lab` is one of `pluggable()`."""
    parts: Parts = importlib.import_module(f"{__name__}.{lab}").PLUG(names)
    return parts
