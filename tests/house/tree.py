"""Reads the repository as text and as syntax trees, for the tests of the house. It changes nothing."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
LEARNERS_CODE = {ROOT / "tests" / "attacks" / "corpus", ROOT / "tests" / "attacks" / "honest"}


@cache
def pyproject() -> dict[str, Any]:
    """pyproject.toml, parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def kept_files() -> tuple[Path, ...]:
    """Every file that git tracks or would add; without git, every file that is not generated."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        found = (path for path in ROOT.rglob("*") if not GENERATED & set(path.relative_to(ROOT).parts))
        return tuple(sorted(path for path in found if path.is_file()))
    return tuple(sorted(ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()))


def modules(*packages: str) -> Iterator[tuple[Path, ast.Module]]:
    """Path and syntax tree of each module of `packages`. What stands for a learner's code is none."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if LEARNERS_CODE & set(path.parents):
                continue
            yield path, ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def where(path: Path, node: ast.AST) -> str:
    """`file:line` of a node, for a message."""
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
