"""Pairs of submissions that share more than chance gives, and copies of the kit's own code.

Owns the comparison. What counts is the text of the answer and helper cells, as tokens without
names, values, comments and layout: renaming and moving things about changes nothing. What the
stub gives counts for nobody. Invariant: the result is a list of pairs to look at, never a score;
no grade depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_solution
from tqdm import tqdm

from .course import Course, Submission, released_form
from .graft import graft
from .pipeline import copy_of, read_file
from .shingles import blind_tokens, shingles
from .submission import SubmittedCell

SIZE = 10
"""Tokens in one shingle."""
THRESHOLD = 0.5
"""Share from which a pair is listed. Right answers written apart from each other share less."""
MIN_SHINGLES = 20
"""Two texts with less to compare are not compared."""
REFERENCE = "the kit's own code"

Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Pair:
    """Two texts and what they share."""

    first: str
    second: str
    share: float
    """Shared shingles as a share of the smaller text's, 0 to 1."""
    shared: int
    """Number of shared shingles."""


@dataclass(frozen=True)
class Comparison:
    """What was compared, and what was found."""

    pairs: list[Pair]
    """At or above the threshold, the most alike first."""
    compared: int
    left_out: dict[str, str]
    """Learner to the reason why nothing of theirs was compared."""


def compare(course: Course, assignment: str, threshold: float) -> Comparison:
    """Every pair of submissions of an assignment, and each with the reference."""
    source = course.folder("source", ".", assignment) / f"{assignment}.ipynb"
    released = released_form(source, course.config)
    given = shingles_of(cell.source for cell in released.cells if cell.cell_type == "code")
    solved = nbformat.read(source, as_version=4)
    reference = shingles_of(answers_of(solved)) - given
    texts: dict[str, Shingles] = {}
    left_out: dict[str, str] = {}
    submissions = course.submissions(assignment)
    for submission in tqdm(submissions, desc="similar", unit="submission", disable=None):
        read = written_by(released, submission)
        if isinstance(read, str):
            left_out[submission.student] = read
            continue
        own = shingles_of(read) - given
        if len(own) < MIN_SHINGLES:
            left_out[submission.student] = "too little of their own to compare"
        else:
            texts[submission.student] = own
    return Comparison(pairs_of(texts, reference, threshold), len(texts), left_out)


def written_by(released: NotebookNode, submission: Submission) -> list[str] | str:
    """Texts of the cells that a learner wrote, as grading finds them; or why there are none."""
    cells: tuple[SubmittedCell, ...]
    cells, reason = read_file(submission.path)
    if reason:
        return reason
    grafted = graft(copy_of(released), cells)
    helpers = [block["helper"] for block in grafted.program if "helper" in block]
    return [*answers_of(grafted.notebook), *helpers]


def answers_of(notebook: NotebookNode) -> list[str]:
    """Texts of the answer cells that hold code."""
    return [cell.source for cell in notebook.cells if is_solution(cell) and cell.cell_type == "code"]


def shingles_of(sources: Iterable[str]) -> Shingles:
    """Shingles of all these cells. No shingle reaches from one cell into the next."""
    return frozenset(shingle for source in sources for shingle in shingles(blind_tokens(source), SIZE))


def pairs_of(texts: dict[str, Shingles], reference: Shingles, threshold: float) -> list[Pair]:
    """Pairs at or above the threshold, the most alike first."""
    found = [pair(first, second, texts[first], texts[second]) for first, second in combinations(texts, 2)]
    found += [pair(name, REFERENCE, text, reference) for name, text in texts.items()]
    alike = [each for each in found if each is not None and each.share >= threshold]
    return sorted(alike, key=lambda each: (-each.share, -each.shared, each.first, each.second))


def pair(first: str, second: str, one: Shingles, other: Shingles) -> Pair | None:
    """What two texts share; None when one of them is too short to say."""
    smaller = min(len(one), len(other))
    if smaller < MIN_SHINGLES:
        return None
    shared = len(one & other)
    return Pair(first, second, shared / smaller, shared)
