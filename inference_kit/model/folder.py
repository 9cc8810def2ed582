"""The files of a model folder: their names, which weights there are, and reading JSON with clear errors.

It opens no weights and needs no torch. Every error names the file that is missing or broken.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import ModelNotFound

CONFIG_FILE = "config.json"
GENERATION_FILE = "generation_config.json"
SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of `folder`. Raises `ModelNotFound` naming the file that is missing."""
    index = folder / INDEX_FILE
    if not index.is_file():
        if (folder / SINGLE_FILE).is_file():
            return [folder / SINGLE_FILE]
        raise ModelNotFound(f"{folder}: {SINGLE_FILE} is missing (and so is {INDEX_FILE})")
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelNotFound(f"{index} cannot be read: it has no weight_map")
    names = sorted({str(name) for name in weight_map.values()})
    for name in names:
        if not (folder / name).is_file():
            raise ModelNotFound(f"{folder}: {name} is missing, which {INDEX_FILE} names")
    return [folder / name for name in names]


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises `ModelNotFound` naming the file."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelNotFound(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ModelNotFound(f"{path} cannot be read: it holds no JSON object")
    return content
