"""What was judged about one test cell, and how it is written into the notebook.

Owns the verdict record and the cell outputs from which nbgrader's own scoring (an error is 0,
a number is the score) gives exactly the judged points. Invariant: a verdict never leaves a
cell silent, since nbgrader takes silence for full marks, and never shows a hidden input.
"""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from inference_kit.labs.checking import CheckResult

from .sandbox import RLIMITS

PROVISIONAL = "Provisional: graded without bubblewrap, at the sandbox level rlimits."
HIDDEN_TEXT = {
    "passed": "passed",
    "failed": "a hidden case differs",
    "not_done": "not done yet",
    "raised": "the answer raised an error in a hidden case",
    "not_plain": "the result of a hidden case is not plain data",
    "missing": "the name is not defined",
    "timeout": "the answer did not come back in time",
    "died": "the process of the answer ended",
    "not_run": "not run",
}
TEACHABLE = ("failed", "raised", "not_plain")
MAX_MESSAGE = 1200


@dataclass(frozen=True)
class Verdict:
    """The judged outcome of one test cell. No results means that nothing could be run."""

    grade_id: str
    max_points: float
    results: tuple[CheckResult, ...] = ()
    level: str = ""
    reason: str = ""
    """Why nothing was run; empty when the checks ran."""

    @property
    def earned(self) -> float:
        """Points of the cell: its maximum times the share of the checks' points earned."""
        total = sum(result.points for result in self.results)
        if total <= 0:
            return 0.0
        earned = sum(result.earned for result in self.results if result.status == "passed")
        return self.max_points * earned / total

    def record(self) -> dict[str, Any]:
        """Plain data for the notebook's metadata: the whole verdict but the messages."""
        rows = [asdict(result) for result in self.results]
        for row in rows:
            del row["message"]
        return {
            "grade_id": self.grade_id,
            "earned": self.earned,
            "max_points": self.max_points,
            "sandbox": self.level,
            "provisional": self.level == RLIMITS,
            "reason": self.reason,
            "checks": rows,
        }


def shown_message(result: CheckResult) -> str:
    """What the learner may read about one check. A hidden check has fixed words only."""
    if not result.visible:
        return HIDDEN_TEXT[result.status]
    return result.message[:MAX_MESSAGE]


def as_text(verdict: Verdict) -> str:
    """The report of one test cell as plain text."""
    lines = [f"{verdict.earned:g} of {verdict.max_points:g} points"]
    if verdict.level == RLIMITS:
        lines.append(PROVISIONAL)
    if verdict.reason:
        lines.append(f"Not graded: {verdict.reason}")
    for result in verdict.results:
        mark = "pass" if result.status == "passed" else "FAIL"
        kind = "" if result.visible else " (hidden)"
        points = f"{result.earned} of {result.points}"
        lines.append(f"[{mark}] {result.name}{kind}, {points}: {shown_message(result)}")
        if result.status in TEACHABLE and result.misconception:
            lines.append(f"       {result.misconception}")
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The same report as a table. Every text is escaped."""
    rows = []
    for result in verdict.results:
        message = html.escape(shown_message(result))
        if result.status in TEACHABLE and result.misconception:
            message += f"\n<em>{html.escape(result.misconception)}</em>"
        cells = (
            "passed" if result.status == "passed" else "not passed",
            html.escape(result.name) + ("" if result.visible else " (hidden)"),
            f"{result.earned} of {result.points}",
            f"<pre>{message}</pre>",
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    notes = []
    if verdict.level == RLIMITS:
        notes.append(PROVISIONAL)
    if verdict.reason:
        notes.append(f"Not graded: {verdict.reason}")
    head = "<tr><th>outcome</th><th>check</th><th>points</th><th>message</th></tr>"
    table = f"<table>{head}{''.join(rows)}</table>" if rows else ""
    shown_notes = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    points = f"<p><strong>{verdict.earned:g} of {verdict.max_points:g} points</strong></p>"
    return f"<div>{points}{shown_notes}{table}</div>"


def as_outputs(verdict: Verdict) -> list[NotebookNode]:
    """Outputs of the test cell. The first one alone decides nbgrader's score."""
    report = new_output("display_data", data={"text/html": as_html(verdict), "text/plain": as_text(verdict)})
    if verdict.earned > 0:
        score = new_output("execute_result", data={"text/plain": repr(verdict.earned)}, execution_count=1)
        return [score, report]
    summary = f"0 of {verdict.max_points:g} points"
    error = new_output("error", ename="NotPassed", evalue=summary, traceback=[f"NotPassed: {summary}"])
    return [error, report]
