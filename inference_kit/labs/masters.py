"""From a master notebook (py:percent text) to notebooks: nbgrader source, release, chapter.

Derives all notebook metadata from marker lines, so that an author cannot get it wrong. It does
not write files: `build.py` does. Invariant: the same text gives the same notebook, byte for byte.

Marker lines in a master:

- `# labNN/qM — keep this line` first in a code cell: an answer cell.
- `check("labNN.qM")` as the whole code cell: the test cell of that question.
- `<!-- labNN/reflection — 4 points -->` first in a markdown cell: a manually graded answer. The
  text below it is the grading guide; it stays in the source notebook.
- `# @setup` as the whole code cell: the set-up cell, from `course.toml`.
- a line `<!-- @badge -->`: the links that open the notebook in Colab and in ModelScope, or nothing.
- `# @given …` and `# @answer …`: see `extract.py`.
"""

from __future__ import annotations

import copy
import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checking import CheckSet
from .extract import ROOT, MasterError, fill

Notebook = dict[str, Any]
Cell = dict[str, Any]

ANSWER_MARK = re.compile(r"^# (lab\d\d)/(q\d+) — keep this line$")
CHECK_CELL = re.compile(r'^check\("(lab\d\d)\.(q\d+)"\)$')
REFLECTION_MARK = re.compile(r"^<!-- (lab\d\d)/reflection — (\d+) points? -->\n?")
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
"""What GitHub allows in `owner/name`."""
HINT = re.compile(r"<details>\s*<summary>Hint \d</summary>(.*?)</details>", re.DOTALL)
BADGE = "<!-- @badge -->"
SETUP_HEAD = "# Set-up."
CODE_STUB = "raise NotImplementedError"
UNPUBLISHED = (
    "This course names no repository yet: set os.environ['INFERENCE_KIT_WHEEL'] to the file name or address "
    "of the kit's wheel in a cell above this one, and run this cell again."
)
"""What the set-up cell says in the cloud when `course.toml` names no repository and no wheel is given."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True)
class Course:
    """What `course.toml` says."""

    repository: str
    """`owner/name` on GitHub; empty: not published."""
    tag: str
    """Names the commit that the links open, and the release that holds the kit's wheel."""

    @property
    def published(self) -> bool:
        return bool(self.repository)


def read_course(path: Path = ROOT / "course.toml") -> Course:
    """Read and check `course.toml`. Raises `MasterError` where it does not say what it must."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))["repository"]
        course = Course(told["name"], told["tag"])
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise MasterError(f"{path.name} needs a table [repository] with name and tag: {error}") from None
    return with_repository(course, course.repository) if course.published else course


def with_repository(course: Course, repository: str) -> Course:
    """`course` with another `owner/name`. Raises `MasterError` for anything else."""
    if not REPOSITORY.fullmatch(repository):
        raise MasterError(f"{repository!r} is not owner/name; write for example REPO=someone/inference-kit")
    return Course(repository, course.tag)


# --- cells --------------------------------------------------------------------------------------


def read_cells(text: str) -> list[tuple[str, str]]:
    """(cell type, source) pairs of a py:percent text."""
    import jupytext

    book = jupytext.reads(text, fmt="py:percent")
    return [(cell.cell_type, cell.source) for cell in book.cells]


def setup_source(course: Course) -> str:
    """The set-up cell: at most ten lines, and nothing happens outside Colab and ModelScope."""
    version = course.tag.removeprefix("v")
    release = f"https://github.com/{course.repository}/releases/download/{course.tag}"
    wheel = f"{release}/inference_kit-{version}-py3-none-any.whl"
    address = f'os.environ.get("INFERENCE_KIT_WHEEL", "{wheel}")'
    refusal: list[str] = []
    if not course.published:
        address = 'os.environ.get("INFERENCE_KIT_WHEEL")'
        refusal = ["    if not wheel:", f'        raise RuntimeError("{UNPUBLISHED}")']
    lines = [
        f"{SETUP_HEAD} In Colab and ModelScope it installs the kit, nothing else. Elsewhere it does nothing.",
        "import os",
        "import subprocess",
        "import sys",
        # ModelScope sets this variable in its own containers; its library reads it from there.
        'if "google.colab" in sys.modules or "MODELSCOPE_ENVIRONMENT" in os.environ:',
        f"    wheel = {address}",
        *refusal,
        '    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", wheel]',
        "    subprocess.run(command, check=True)",
    ]
    return "\n".join(lines)


def badge(course: Course, path: str) -> str:
    """The markdown of the links that open `path` in Colab and ModelScope; empty when not published."""
    if not course.published:
        return ""
    place = f"{course.repository}/blob/{course.tag}/{path}"
    # Words, not the pictures these services offer: a notebook must not ask the network for its badge.
    return (
        f"**[▶ Open in Colab](https://colab.research.google.com/github/{place})** · "
        f"[open in ModelScope](https://modelscope.cn/notebook/share/github/{place})"
    )


def _unique_id(base: str, taken: set[str]) -> str:
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name


def make_notebook(
    text: str, course: Course, path: str, checks: CheckSet | None = None, root: Path = ROOT
) -> Notebook:
    """The notebook of a master text. `path` is where it lies in the repository (for the badge).

    With `checks` it is an nbgrader source notebook. Raises `MasterError`.
    """
    taken: set[str] = set()
    cells: list[Cell] = []
    for kind, source in read_cells(text):
        if kind == "markdown":
            filled = _with_badge(source, badge(course, path))
        else:
            filled = setup_source(course) if source.strip() == "# @setup" else fill(source, root)
        grading, filled = _grading(kind, filled, checks)
        base = grading["grade_id"] if grading else hashlib.sha256(filled.encode()).hexdigest()[:8]
        cell: Cell = {
            "cell_type": kind,
            "id": _unique_id(base, taken),
            "metadata": {"nbgrader": grading} if grading else {},
            "source": filled,
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    if checks is not None:
        _whole_lab(cells, checks)
    return {"cells": cells, "metadata": copy.deepcopy(METADATA), "nbformat": 4, "nbformat_minor": 5}


def _with_badge(source: str, text: str) -> str:
    if text:
        return source.replace(BADGE, text)
    return "\n".join(line for line in source.split("\n") if line.strip() != BADGE)


def _grading(kind: str, source: str, checks: CheckSet | None) -> tuple[dict[str, Any] | None, str]:
    """nbgrader's metadata of a cell, and its source without the marks that go away."""
    first = source.split("\n", 1)[0]
    if kind == "markdown" and (mark := REFLECTION_MARK.match(source)):
        settings = _settings(f"{mark[1]}-reflection", grade=True, solution=True, points=int(mark[2]))
        return settings, source[mark.end() :]
    if kind != "code" or checks is None:
        return None, source
    if mark := ANSWER_MARK.match(first):
        if "### BEGIN SOLUTION" not in source or "# TODO 1" not in source:
            raise MasterError(f"{mark[0]!r}: an answer needs numbered TODO lines and a solution region")
        return _settings(f"{mark[1]}-{mark[2]}-answer", grade=False, solution=True), source
    if mark := CHECK_CELL.match(source.strip()):
        points = checks.points(mark[2])
        return _settings(f"{mark[1]}-{mark[2]}", grade=True, solution=False, points=points), source
    return None, source


def _settings(grade_id: str, *, grade: bool, solution: bool, points: int | None = None) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "grade": grade,
        "grade_id": grade_id,
        "locked": grade and not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return settings if points is None else settings | {"points": points}


def _whole_lab(cells: list[Cell], checks: CheckSet) -> None:
    """Every question has one answer cell, followed at once by its test cell."""
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    for question in checks.questions:
        name = f"{checks.lab}-{question}"
        if ids.count(name) != 1 or ids.count(f"{name}-answer") != 1:
            raise MasterError(f"{name} needs exactly one answer cell and one test cell")
        if ids.index(name) != ids.index(f"{name}-answer") + 1:
            raise MasterError(f"{name}: the test cell must stand right after the answer cell")
    known = {f"{checks.lab}-{question}" for question in checks.questions}
    for name in ids:
        if name and name.removesuffix("-answer") not in known | {f"{checks.lab}-reflection"}:
            raise MasterError(f"{name} stands in the notebook and has no check")


# --- release ------------------------------------------------------------------------------------


def make_release(source: Notebook) -> Notebook:
    """What learners get: nbgrader's own preprocessors applied to the source notebook.

    Needs nbgrader. The settings are those of `nbgrader_config.py` (tested equal).
    """
    import nbformat
    from nbgrader import preprocessors as steps
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    book: Any = nbformat.from_dict(copy.deepcopy(source))
    for step in (
        steps.LockCells,
        steps.ClearSolutions,
        steps.ClearOutput,
        steps.ClearHiddenTests,
        steps.ClearMarkScheme,
        steps.ComputeChecksums,
    ):
        book, _ = step(config=config).preprocess(book, {})
    # nbformat's nodes are mappings; plain dicts keep the rest of the build free of them.
    return _plain_dict(book)


def _plain_dict(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _plain_dict(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain_dict(value) for value in node]
    return node


def to_text(notebook: Notebook) -> str:
    """The notebook as nbformat writes it, with a newline at the end."""
    import nbformat

    book: Any = nbformat.from_dict(copy.deepcopy(notebook))
    nbformat.validate(book)
    return str(nbformat.writes(book, version=4)).rstrip("\n") + "\n"


def answer_cells(notebook: Notebook) -> dict[str, str]:
    """Source of the answer cell of each question, by question id."""
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        mark = ANSWER_MARK.match(cell["source"].split("\n", 1)[0])
        if cell["cell_type"] == "code" and mark:
            found[mark[2]] = cell["source"]
    return found


def contract_rows(notebook: Notebook) -> dict[str, tuple[str, ...]]:
    """First cells of the rows of each question's contract tables, without backticks.

    The contract of a question is the markdown cell with `**Contract.**` before its answer cell.
    """
    rows: dict[str, tuple[str, ...]] = {}
    contract = ""
    for cell in notebook["cells"]:
        mark = ANSWER_MARK.match(cell["source"].split("\n", 1)[0])
        if mark:
            rows[mark[2]] = tuple(_table_rows(contract))
            contract = ""
        elif cell["cell_type"] == "markdown" and "**Contract.**" in cell["source"]:
            contract = cell["source"]
    return rows


def _table_rows(text: str) -> Iterator[str]:
    body = False
    for line in text.split("\n"):
        if not line.startswith("|"):
            body = False
        elif set(line) <= set("|-: "):
            body = True  # the line below the head; the head itself is no row
        elif body:
            yield line.split("|")[1].strip().replace("`", "")


def hints_of(notebook: Notebook) -> dict[str, list[str]]:
    """The three hints of each question: the `<details>` blocks after its answer cell."""
    hints: dict[str, list[str]] = {}
    question: str | None = None
    for cell in notebook["cells"]:
        mark = ANSWER_MARK.match(cell["source"].split("\n", 1)[0])
        if mark:
            question = mark[2]
        elif cell["cell_type"] == "markdown" and question:
            hints.setdefault(question, []).extend(item.strip() for item in HINT.findall(cell["source"]))
    return hints
