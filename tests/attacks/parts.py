"""What the attacks that write a notebook build with. An attack gets these names by `import *`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from nbformat.v4 import new_markdown_cell, new_output

from tests.grader.fake_lab import code, find_cell, marker, released, submission

__all__ = [
    "code",
    "find_cell",
    "json",
    "marker",
    "new_markdown_cell",
    "new_output",
    "os",
    "released",
    "save",
    "submission",
]


def save(path: Path, notebook: Any) -> None:
    """Write a notebook where it is submitted."""
    path.write_text(json.dumps(notebook), encoding="utf-8")
