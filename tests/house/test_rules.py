"""Rules of the house that a reader could break without noticing: time, asserts, excepts, length, paths."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT, kept_files, modules, where

CLOCKS = {
    "time": {"time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"}
    | {
        "time_ns",
        "monotonic_ns",
        "perf_counter_ns",
        "process_time_ns",
        "thread_time_ns",
        "gmtime",
        "localtime",
    },
    "datetime": {"now", "utcnow", "today"},
}
MAX_FUNCTION_LINES = 60


def reads_clock(node: ast.Attribute, aliases: dict[str, str]) -> bool:
    """True for `time.monotonic`, `datetime.now`, `loop.time` and their like."""
    owner = node.value
    name = aliases.get(owner.id, owner.id) if isinstance(owner, ast.Name) else ""
    shown = ast.unparse(owner)
    of_time = name == "time" and node.attr in CLOCKS["time"]
    of_date = "date" in shown and node.attr in CLOCKS["datetime"]
    of_loop = "loop" in shown and node.attr == "time"
    return of_time or of_date or of_loop


def time_reads(tree: ast.Module) -> list[ast.AST]:
    """Nodes that read a clock, or import a function that does."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    aliases = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [node for alias in node.names if alias.name in CLOCKS["time"]]
        elif isinstance(node, ast.Attribute) and reads_clock(node, aliases):
            found.append(node)
    return found


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("import time\ntime.monotonic()", True),
        ("import time as t\nt.perf_counter_ns()", True),
        ("from time import time", True),
        ("from datetime import datetime\ndatetime.now()", True),
        ("import asyncio\nasyncio.get_running_loop().time()", True),
        ("import time\ntime.sleep(1)", False),
        ("clock.now()", False),
        ("self._clock.now()", False),
    ],
)
def test_the_scan_knows_a_clock_when_it_sees_one(source: str, reads: bool) -> None:
    assert bool(time_reads(ast.parse(source))) is reads


def test_only_clock_py_reads_time() -> None:
    found = [
        where(path, node)
        for path, tree in modules("inference_kit")
        if path != ROOT / "inference_kit" / "clock.py"
        for node in time_reads(tree)
    ]
    assert found == []


def test_clock_py_does_read_time() -> None:
    trees = dict(modules("inference_kit"))
    assert time_reads(trees[ROOT / "inference_kit" / "clock.py"])


def test_no_assert_steers_the_kit_or_the_grader() -> None:
    trees = modules("inference_kit", "grader")
    found = [
        where(path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Assert)
    ]
    assert found == []


def test_no_except_is_bare() -> None:
    found = [
        where(path, node)
        for path, tree in modules("inference_kit", "grader", "tests", "tools")
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and node.type is None
    ]
    assert found == []


def test_every_module_says_what_it_owns() -> None:
    found = [
        where(path, tree)
        for path, tree in modules("inference_kit", "grader", "tools")
        if not ast.get_docstring(tree)
    ]
    assert found == []


def test_functions_fit_a_screen() -> None:
    found = [
        f"{where(path, node)} {node.name}"
        for path, tree in modules("inference_kit", "grader", "tools")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert found == []


def test_plain_data_needs_no_other_module_of_the_kit() -> None:
    tree = dict(modules("inference_kit"))[ROOT / "inference_kit" / "labs" / "plain.py"]
    found = [
        node
        for node in ast.walk(tree)
        if (
            isinstance(node, ast.ImportFrom)
            and (node.level or (node.module or "").startswith("inference_kit"))
        )
        or (
            isinstance(node, ast.Import)
            and any(alias.name.startswith("inference_kit") for alias in node.names)
        )
    ]
    assert found == []


# Written in pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile(
    r"(?<![\w.])/(?:" + "|".join((r"work/\w", r"root/\w", r"home/\w+/", r"Users/\w+/")) + ")"
)
HOSTS = re.compile(
    "|".join((r"py" + r"pi\.org", r"python" + r"hosted\.org", r"npm" + r"js\.org", r"deb\." + r"debian"))
)


def texts() -> list[tuple[Path, str]]:
    """Every kept file that is text."""
    found = []
    for path in kept_files():
        data = path.read_bytes()
        if b"\0" not in data:
            found.append((path, data.decode("utf-8", "replace")))
    return found


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, HOSTS], ids=["machine paths", "registry hosts"])
def test_no_file_names(pattern: re.Pattern[str]) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path, text in texts()
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_no_weights_are_kept() -> None:
    big = [
        path.name for path in kept_files() if path.suffix in {".safetensors", ".gguf", ".bin", ".pt", ".whl"}
    ]
    assert big == []
