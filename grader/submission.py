"""Reading a submitted notebook, whatever state it is in.

Owns the way from bytes to a list of cells. It takes texts and ids only: metadata that could
carry points, outputs, kernels or tags is not even read. A file that holds no cells at all
raises `Ungradable` with a reason; nothing else does.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference_kit.errors import KitError

MAX_FILE_BYTES = 64 << 20
MAX_CELLS = 5_000
MAX_SOURCE_CHARS = 1 << 20


class Ungradable(KitError):
    """The file cannot be read as a notebook; the message is the reason the learner sees."""


@dataclass(frozen=True)
class SubmittedCell:
    """One cell of a submission: its text, and the two ids that may say which cell it was."""

    index: int
    cell_type: str
    source: str
    grade_id: str = ""
    cell_id: str = ""


def read_submission(path: Path) -> tuple[SubmittedCell, ...]:
    """The cells of a notebook file of format 3 or 4. Raises `Ungradable`.

    A symbolic link is refused: it could point at somebody else's file. So is what is no plain file:
    who opens a pipe waits for ever.
    """
    if path.is_symlink():
        raise Ungradable("the file is a link, not a notebook")
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Ungradable("the file is a pipe or a device, not a notebook")
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Ungradable(f"the file cannot be read ({error.strerror})") from error
    if len(data) > MAX_FILE_BYTES:
        raise Ungradable(f"the file is larger than {MAX_FILE_BYTES >> 20} MB; clear its outputs")
    return parse_submission(data)


def parse_submission(data: bytes) -> tuple[SubmittedCell, ...]:
    """The cells of a notebook's bytes. Raises `Ungradable` when there are none."""
    text = data.decode("utf-8-sig", "replace")
    if not text.strip():
        raise Ungradable("the file is empty")
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        raise Ungradable("the file is not a notebook: its content is not JSON") from None
    raw = _raw_cells(notebook)
    if raw is None:
        raise Ungradable("the file is not a notebook: it has no list of cells")
    if len(raw) > MAX_CELLS:
        raise Ungradable(f"the notebook has more than {MAX_CELLS} cells")
    cells = [cell for index, item in enumerate(raw) if (cell := _read_cell(index, item)) is not None]
    if not cells:
        raise Ungradable("the notebook has no cells")
    return tuple(cells)


def _raw_cells(notebook: Any) -> list[Any] | None:
    """`cells` of format 4, or the cells of all worksheets of format 3."""
    if not isinstance(notebook, dict):
        return None
    if isinstance(notebook.get("cells"), list):
        return list(notebook["cells"])
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _read_cell(index: int, item: Any) -> SubmittedCell | None:
    """One cell, or None for something that is not one."""
    if not isinstance(item, dict):
        return None
    source = item.get("source", item.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str) or len(source) > MAX_SOURCE_CHARS:
        return None
    metadata = item.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return SubmittedCell(
        index=index,
        cell_type="code" if item.get("cell_type") == "code" else "markdown",
        source=_valid_unicode(source),
        grade_id=_identifier(nbgrader.get("grade_id")) if isinstance(nbgrader, dict) else "",
        cell_id=_identifier(item.get("id")),
    )


def _identifier(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _valid_unicode(text: str) -> str:
    """JSON can spell unpaired surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
