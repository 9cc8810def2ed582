"""Notebooks for the tests: found, filled with answers, run, and read.

Owns how a test runs a notebook. Invariant: every list of labs and chapters comes from the tree, so a new one
is tested without a word here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from inference_kit.labs.answers import reference_source
from inference_kit.labs.build import ROOT, Lab, find_labs
from inference_kit.labs.gates import LabFiles

LABS = find_labs()
CHAPTERS = sorted((ROOT / "course").glob("*.ipynb"))
REFLECTION = "One process owns the end; the other one sends it what it saw."


def name(value: object) -> str:
    """The id of a parametrised test."""
    if isinstance(value, Lab):
        return value.name
    return value.stem if isinstance(value, Path) else str(value)


def released(lab: Lab) -> Any:
    """The notebook that learners get."""
    return nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", 4)


def answered(lab: Lab, **instead: str) -> Any:
    """The release with every answer filled in: the reference, or the text given for a question."""
    book = released(lab)
    cells = {
        f"{lab.lab}-{question}-answer": (question, cell)
        for question, cell in LabFiles.read(lab).cells.items()
    }
    for cell in book.cells:
        if cell.id in cells:
            question, source = cells[cell.id]
            cell.source = instead.get(question, reference_source(source))
        if cell.id == f"{lab.lab}-reflection":
            cell.source = REFLECTION
    return book


def run(book: Any, folder: Path, allow_errors: bool = False, kernel: str = "python3") -> Any:
    """Run a notebook from top to bottom in `folder`; it gets its outputs."""
    client = NotebookClient(
        book, timeout=240, kernel_name=kernel, allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute()
    return book


def outputs(cell: Any, kind: str) -> list[Any]:
    """The outputs of a cell of one nbformat type."""
    return [output for output in cell.get("outputs", []) if output["output_type"] == kind]


def shown(book: Any, kind: str) -> list[str]:
    """Everything a notebook shows in one MIME type, in order."""
    every = [output for cell in book.cells for output in cell.get("outputs", [])]
    return [str(output["data"][kind]) for output in every if kind in output.get("data", {})]


def checks_of(book: Any) -> list[Any]:
    """The test cells."""
    return [cell for cell in book.cells if cell.cell_type == "code" and cell.source.startswith('check("')]


def errors_of(book: Any) -> list[str]:
    """Name and first line of each error."""
    found = [error for cell in book.cells for error in outputs(cell, "error")]
    return [f"{error['ename']}: {error['evalue']}".split("\n")[0] for error in found]
