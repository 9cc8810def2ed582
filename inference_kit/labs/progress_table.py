"""`progress()`: a table of what passes, now in this notebook, or by the log over all labs.

Owns the table. It runs visible checks only, as `check` does, and changes nothing. Invariant: a question
whose answer cell has not been run is "not done yet" and never "wrong".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..viz import Picture, grid
from .attempt_log import read_attempts
from .checking import LocalSubject, run_check
from .notebook import SEED, UnknownQuestion, current_names, known_labs, load_visible


def progress(lab: str | None = None, namespace: Mapping[str, Any] | None = None) -> Picture:
    """What passes.

    Args:
        lab: "lab03": every question of this lab, checked now against the names of the notebook. None: all
            labs, by the last word in the log of attempts (`log_attempts()`).
        namespace: used in place of the notebook's names.

    Raises `UnknownQuestion` for a lab that this kit does not have.
    """
    if lab is None:
        return _by_the_log()
    if lab not in known_labs():
        raise UnknownQuestion(f"this kit has no {lab!r}; known: {', '.join(known_labs())}")
    return _of_the_notebook(lab, current_names() if namespace is None else namespace)


def _of_the_notebook(lab: str, names: Mapping[str, Any]) -> Picture:
    checks, facts = load_visible(lab)
    subject = LocalSubject(names)
    rows: list[list[Any]] = [["question", "state", "visible points", "points in all"]]
    reached = 0
    for question in checks.questions:
        results = [run_check(check, subject, SEED) for check in checks.of(question) if check.visible]
        statuses = {result.status for result in results}
        waiting = statuses & {"not_done", "missing"}
        word = "not done yet" if waiting else "done" if statuses == {"passed"} else "wrong"
        earned = sum(result.earned for result in results)
        reached += earned
        rows.append(
            [f"{lab}.{question}", word, f"{earned} of {checks.points(question)}", facts["points"][question]]
        )
    total = sum(facts["points"].values())
    note = (
        f"{reached} points by visible checks; {total} with the hidden ones, which run when the lab is graded"
    )
    return grid(rows, f"Progress in {lab}", _marks(rows), note)


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
