"""`progress()`: a table of what passes, now in this notebook, or by the log over all labs.

Owns the table. It runs visible checks only, as `check` does, and changes nothing; it never opens another
notebook. Invariant: a question whose answer cell has not been run is "not done yet" and never "wrong".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..viz import Picture, grid
from .attempt_log import read_attempts
from .checking import CheckSet, LocalSubject, run_check
from .notebook import SEED, UnknownQuestion, current_names, known_labs, load_visible

_ANSWER_CELL = re.compile(r"^# (lab\d\d)/q\d+ — keep this line$", re.MULTILINE)


def progress(
    lab: str | None = None, namespace: Mapping[str, Any] | None = None, *, everything: bool = False
) -> Picture:
    """What passes.

    Args:
        lab: "lab03": every question of this lab, checked now against the names of the notebook. None: the
            labs whose answer cells have been run in this notebook; where there are none, as `everything`.
        namespace: used in place of the notebook's names.
        everything: all labs, by the last word in the log of attempts (`log_attempts()`).

    Raises `UnknownQuestion` for a lab that this kit does not have.
    """
    if lab is not None and lab not in known_labs():
        raise UnknownQuestion(f"this kit has no {lab!r}; known: {', '.join(known_labs())}")
    names = current_names() if namespace is None else namespace
    labs = [] if everything else _labs_of(names) if lab is None else [lab]
    return _of_the_notebook(labs, names) if labs else _by_the_log()


def _labs_of(names: Mapping[str, Any]) -> list[str]:
    """The labs of the answer cells that were run: IPython keeps the text of every cell in `In`."""
    run = [text for text in names.get("In", ()) if isinstance(text, str)]
    found = {lab for text in run for lab in _ANSWER_CELL.findall(text)}
    return sorted(found & set(known_labs()))


def _of_the_notebook(labs: Sequence[str], names: Mapping[str, Any]) -> Picture:
    rows: list[list[Any]] = [["question", "state", "visible points", "points in all"]]
    reached = total = 0
    subject = LocalSubject(names)
    for lab in labs:
        checks, facts = load_visible(lab)
        total += sum(facts["points"].values())
        for question in checks.questions:
            word, earned = _state_of(checks, question, subject)
            reached += earned
            visible = f"{earned} of {checks.points(question)}"
            rows.append([f"{lab}.{question}", word, visible, facts["points"][question]])
    note = (
        f"{reached} points by visible checks; {total} with the hidden ones, which run when the lab is graded"
    )
    return grid(rows, f"Progress in {', '.join(labs)}", _marks(rows), note)


def _state_of(checks: CheckSet, question: str, subject: LocalSubject) -> tuple[str, int]:
    """(the word that `check` would say, points of the visible checks that pass)."""
    results = [run_check(check, subject, SEED) for check in checks.of(question) if check.visible]
    statuses = {result.status for result in results}
    waiting = statuses & {"not_done", "missing"}
    word = "not done yet" if waiting else "done" if statuses == {"passed"} else "wrong"
    return word, sum(result.earned for result in results)


def _by_the_log() -> Picture:
    last = {attempt.question: attempt.word for attempt in read_attempts()[0]}
    rows: list[list[Any]] = [["lab", "done", "wrong", "not done yet"]]
    for lab in known_labs():
        words = [last.get(f"{lab}.{question}", "not done yet") for question in load_visible(lab)[0].questions]
        counts = [words.count(word) for word in ("done", "wrong", "not done yet")]
        rows.append([lab, *(f"{count} of {len(words)}" for count in counts)])
    note = (
        "by the last word of each check" if last else "the log is off or empty; log_attempts() switches it on"
    )
    finished = [
        (row, 1) for row in range(1, len(rows)) if rows[row][1].split()[0] == rows[row][1].split()[-1]
    ]
    return grid(rows, "Progress in all labs", finished, note)


def _marks(rows: list[list[Any]]) -> list[tuple[int, int]]:
    return [(row, 1) for row in range(1, len(rows)) if rows[row][1] == "done"]
