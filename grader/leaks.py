"""Whether a text that learners get holds something that they must not get.

Owns the list of secrets (hidden checks, oracles, right and wrong answers, the masters' solutions)
and the comparison by content: names of files and functions play no part. Invariant: what is
compared comes from `solutions/` each time, so a new lab is covered without a change here.

The kit's own code is no secret: it is the engine that learners import.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import nbformat
from nbgrader.utils import is_solution

from inference_kit.labs.answers import reference_source, stub_source
from inference_kit.labs.build import Lab, visible_source

from .shingles import shingles, text_of_notebook, words

SIZE = 12
"""Words in one shingle."""
SHARE = 0.75
"""A text holds a secret when it has this share of the secret's shingles, or more."""
OPEN_ROOM = "inference_kit"
CLOSED_ROOM = "inference_kit/labs"


@dataclass(frozen=True)
class Secret:
    """One text that must not reach learners. An answer may be like the kit's own code, a check may not."""

    name: str
    shingles: frozenset[tuple[str, ...]]
    is_answer: bool


def secrets_of(labs: Iterable[Lab]) -> list[Secret]:
    """Every secret of these labs that is long enough to be known by its words."""
    found = [secret for lab in labs for secret in (*_checks(lab), *_answers(lab))]
    return [secret for secret in found if secret.shingles]


def _secret(name: str, text: str, is_answer: bool, known: str = "") -> Secret:
    tokens = shingles(words(text), SIZE) - shingles(words(known), SIZE)
    return Secret(name, frozenset(tokens), is_answer)


def _checks(lab: Lab) -> Iterator[Secret]:
    """Functions and classes of the checks and of the oracle that are not among the visible ones."""
    visible = visible_source(lab, lab.checks())
    for path in sorted(lab.folder.glob("*.py")):
        if path == lab.master:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            source = ast.get_source_segment(text, node) or ""
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and source not in visible:
                yield _secret(f"{lab.name}/{path.name}: {node.name}", source, False, visible)


def _answers(lab: Lab) -> Iterator[Secret]:
    """Right and wrong answers, and the solutions of the source notebook, without what the stubs give."""
    stubs = {}
    for cell in nbformat.read(lab.folder / f"{lab.name}.ipynb", as_version=4).cells:
        if is_solution(cell) and cell.cell_type == "code":
            question = cell.source.split("\n")[0].split("/")[1].split()[0]
            stubs[question] = stub_source(cell.source)
            text = reference_source(cell.source)
            yield _secret(f"{lab.name}: solution of {question}", text, True, stubs[question])
    for kind in ("accept", "reject"):
        for path in sorted((lab.folder / kind).glob("*.py")):
            parts = re.split(r"(?m)^# %% (.+)$", path.read_text(encoding="utf-8"))
            for name, text in zip(parts[1::2], parts[2::2], strict=True):
                yield _secret(f"{lab.name}/{kind}/{path.name}: {name}", text, True, stubs.get(path.stem, ""))


def leaks(files: dict[str, str], secrets: Iterable[Secret]) -> list[str]:
    """One line for each secret that a file holds. `files`: path in the publication to text."""
    found, secrets = [], list(secrets)
    for path, text in sorted(files.items()):
        shown = text_of_notebook(text) if path.endswith(".ipynb") else text
        tokens = shingles(words(shown), SIZE)
        is_kit = path.startswith(f"{OPEN_ROOM}/") and not path.startswith(f"{CLOSED_ROOM}/")
        for secret in secrets:
            if secret.is_answer and is_kit:
                continue
            if len(secret.shingles & tokens) >= SHARE * len(secret.shingles):
                found.append(f"{path} holds {secret.name}")
    return found
