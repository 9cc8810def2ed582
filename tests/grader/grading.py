"""Short ways from a submission to its verdicts, for tests that need no nbgrader."""

from __future__ import annotations

import json
from typing import Any

from nbformat import NotebookNode

from grader.graft import KEY, Grafted, graft, metadata_of
from grader.judge import judge_notebook
from grader.sandbox import Limits, Sandbox
from grader.submission import parse_submission
from grader.verdict import Verdict
from inference_kit.labs.checking import CheckSet
from tests.grader import fake_lab

QUICK = Limits(check_s=1.0, cell_s=1.0, load_s=6.0)
"""Short enough for a test that hangs on purpose; an honest check takes milliseconds."""


def grafted(submission: NotebookNode | dict[str, Any], instructor: NotebookNode | None = None) -> Grafted:
    """The instructor's copy with the answers of a submission, ready to be judged."""
    cells = parse_submission(json.dumps(submission).encode())
    result = graft(fake_lab.released() if instructor is None else instructor, cells)
    result.notebook.metadata[KEY] = metadata_of(result)
    return result


def judge(
    submission: NotebookNode | dict[str, Any], checks: CheckSet, sandbox: Sandbox, limits: Limits = QUICK
) -> dict[str, Verdict]:
    """Verdicts of a submission of the fake lab, by question."""
    verdicts = judge_notebook(grafted(submission).notebook, checks, sandbox, limits)
    return {verdict.grade_id.rsplit("-", 1)[-1]: verdict for verdict in verdicts}


def scores(
    submission: NotebookNode | dict[str, Any], checks: CheckSet, sandbox: Sandbox, limits: Limits = QUICK
) -> dict[str, float]:
    """Points of a submission of the fake lab, by question."""
    return {name: verdict.earned for name, verdict in judge(submission, checks, sandbox, limits).items()}
