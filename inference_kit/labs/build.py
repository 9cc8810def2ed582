"""Builds every lab and chapter: `python -m inference_kit.labs.build [--check]` (`make labs`).

Owns the list of files that are generated and writes them. With `--check` it writes nothing and
exits 1 when a file differs, is missing, or should not be there. With `--badges owner/name` it first
writes that name into `course.toml` (`make badges`). Invariant: nothing of a
master's answers, of hidden checks, or of accept and reject sets is among what it writes to `labs/`.

A lab is a folder `solutions/labNN_name/` with `labNN_name.py` (master), `checks.py`, `accept/` and
`reject/`. A chapter is a file `course/src/NAME.py`. See `masters.py` and `extract.py` for the marks.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .checking import CheckSet, load_checks
from .extract import ROOT, MasterError
from .masters import (
    SETUP_HEAD,
    Course,
    hints_of,
    make_notebook,
    make_release,
    read_course,
    to_text,
    with_repository,
)

WORK = ".my-work-"
"""Marks the name of a copy of somebody's work."""

LINE_LENGTH = 110

VISIBLE_HEAD = '''"""Visible checks of {lab}: `make labs` copies them from solutions/{folder}. Do not edit."""
'''


@dataclass(frozen=True)
class Lab:
    """One folder under `solutions/`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def lab(self) -> str:
        """`lab01` of `lab01_lifecycle`."""
        return self.name.split("_", 1)[0]

    @property
    def master(self) -> Path:
        return self.folder / f"{self.name}.py"

    @property
    def checks_file(self) -> Path:
        return self.folder / "checks.py"

    def checks(self) -> CheckSet:
        checks = load_checks(self.checks_file)
        if checks.lab != self.lab:
            raise MasterError(f"{self.checks_file} says {checks.lab!r} and stands in {self.name}")
        return checks


def find_labs(root: Path = ROOT) -> list[Lab]:
    """The labs of the repository, in order."""
    return [Lab(path.parent) for path in sorted(root.glob("solutions/lab[0-9][0-9]_*/checks.py"))]


def build_lab(lab: Lab, course: Course, root: Path = ROOT) -> dict[str, str]:
    """Path (relative to the root) to text of everything that one lab generates."""
    checks = lab.checks()
    release_path = f"labs/{lab.name}/{lab.name}.ipynb"
    source = make_notebook(lab.master.read_text(encoding="utf-8"), course, release_path, checks, root)
    facts = {
        "lab": lab.lab,
        "points": {question: checks.points(question) for question in checks.questions},
        "hints": hints_of(source),
    }
    for question in checks.questions:
        if len(facts["hints"].get(question, [])) != 3:  # type: ignore[attr-defined]
            raise MasterError(f"{lab.name}: {question} needs three hints")
    return {
        f"solutions/{lab.name}/{lab.name}.ipynb": to_text(source),
        release_path: to_text(make_release(source)),
        f"inference_kit/labs/visible/{lab.lab}.py": visible_source(lab, checks),
        f"inference_kit/labs/visible/{lab.lab}.json": json.dumps(facts, indent=1, ensure_ascii=False) + "\n",
    }


def build_course(course: Course, root: Path = ROOT) -> dict[str, str]:
    """Path to text of every chapter."""
    built: dict[str, str] = {}
    for master in sorted((root / "course" / "src").glob("*.py")):
        path = f"course/{master.stem}.ipynb"
        built[path] = to_text(make_notebook(master.read_text(encoding="utf-8"), course, path, None, root))
    return built


# --- the visible checks ----------------------------------------------------------------------------


def visible_source(lab: Lab, checks: CheckSet) -> str:
    """The text of `checks.py` cut down to the visible checks and what they use."""
    text = lab.checks_file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    visible = {check.name for check in checks.checks if check.visible}
    named = _names_defined(tree)
    keep = {"CHECKS"} | visible
    while True:
        used = {name for key in keep for name in _names_used(named[key])} & set(named)
        if used <= keep:
            break
        keep |= used
    kept = [node for node in tree.body if _is_future(node) or not keep.isdisjoint(_defined_by(node))]
    parts = [VISIBLE_HEAD.format(lab=lab.lab, folder=lab.name)]
    for before, node in zip([None, *kept], kept, strict=False):
        parts.append("\n" * _blank_lines(before, node) + _statement_text(text, node, keep) + "\n")
    return "".join(parts)


def _blank_lines(before: ast.stmt | None, node: ast.stmt) -> int:
    """Blank lines between two statements, as the formatter wants them."""
    blocks = (ast.FunctionDef, ast.ClassDef)
    if isinstance(before, blocks) or (before is not None and isinstance(node, blocks)):
        return 2
    if before is None or _group(before) != _group(node):
        return 1
    return 0


def _group(node: ast.stmt) -> str:
    """Statements of one group stand together: future, standard library, the kit, the rest."""
    if _is_future(node):
        return "future"
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("inference_kit"):
        return "kit"
    return "library" if isinstance(node, (ast.Import, ast.ImportFrom)) else "rest"


def _statement_text(text: str, node: ast.stmt, keep: set[str]) -> str:
    """Source of a statement; an import cut down to the names that are used."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return "\n".join(text.split("\n")[_first_line(node) - 1 : node.end_lineno])
    if _is_future(node):
        return ast.unparse(node)
    node.names = [item for item in node.names if (item.asname or item.name.split(".")[0]) in keep]
    line = ast.unparse(node)
    if len(line) <= LINE_LENGTH:
        return line
    head, names = line.split(" import ")
    return f"{head} import (\n" + "".join(f"    {name},\n" for name in names.split(", ")) + ")"


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _defined_by(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {item.asname or item.name.split(".")[0] for item in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return {leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}


def _names_defined(tree: ast.Module) -> dict[str, ast.stmt]:
    return {name: node for node in tree.body for name in _defined_by(node)}


def _names_used(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return set()
    return {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])


# --- writing -----------------------------------------------------------------------------------------


def build_all(course: Course, root: Path = ROOT) -> dict[str, str]:
    """Everything that is generated, path to text."""
    built = build_course(course, root)
    for lab in find_labs(root):
        built |= build_lab(lab, course, root)
    return built


def _is_local(path: Path) -> bool:
    """Files that a person's work leaves in the tree and git ignores."""
    return ".ipynb_checkpoints" in path.parts or WORK in path.name


def unexpected(built: dict[str, str], root: Path = ROOT) -> Iterator[str]:
    """Files in generated places that no master makes."""
    for pattern in ("labs/**/*", "solutions/*/*.ipynb", "course/*.ipynb", "inference_kit/labs/visible/lab*"):
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if path.is_file() and name not in built and not _is_local(path):
                yield name


def drift(built: dict[str, str], root: Path = ROOT) -> list[str]:
    """One line for each file that is not what the masters say."""
    problems = []
    for name, text in sorted(built.items()):
        path = root / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif path.read_text(encoding="utf-8") != text:
            problems.append(f"{name} is not what its master says")
    return problems + [f"{name} has no master" for name in unexpected(built, root)]


def holds_work(old: str, new: str) -> bool:
    """True when somebody worked in a released notebook: it has outputs, or other code than the new one.

    The set-up cell is nobody's work: it changes with the repository's name. A file that is no notebook
    any more counts as work: better one copy too many.
    """
    try:
        cells = [cell for cell in json.loads(old)["cells"] if cell["cell_type"] == "code"]
        released = {"".join(cell["source"]) for cell in json.loads(new)["cells"]}
        return any(cell["outputs"] or not _is_released("".join(cell["source"]), released) for cell in cells)
    except (ValueError, KeyError, TypeError):
        return True


def _is_released(source: str, released: set[str]) -> bool:
    return source in released or source.startswith(SETUP_HEAD)


def keep_work(path: Path, new: str) -> None:
    """Copy a learner's notebook aside before the released one is written over it."""
    old = path.read_text(encoding="utf-8")
    if not holds_work(old, new):
        return
    number = 1
    while (kept := path.with_name(f"{path.stem}{WORK}{number}.ipynb")).exists():
        number += 1
    kept.write_text(old, encoding="utf-8")
    print(f"kept your work as {kept.name}, beside the new {path.name}")


def write(built: dict[str, str], root: Path = ROOT) -> list[str]:
    """Write what differs; return the names written. Work in a released notebook is kept beside it."""
    written = []
    for name, text in sorted(built.items()):
        path = root / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if name.startswith("labs/") and path.is_file():
            keep_work(path, text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(name)
    return written


def publish(repository: str, root: Path = ROOT) -> list[str]:
    """Write `owner/name` into `course.toml` and into every notebook; return the names written.

    Raises `MasterError`, and has then written nothing.
    """
    path = root / "course.toml"
    course = with_repository(read_course(path), repository)
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(r'^name = "[^"]*"$', f'name = "{repository}"', old, flags=re.MULTILINE)
    if count != 1:
        raise MasterError(f'{path.name} must have exactly one line name = "…"')
    return write(build_all(course, root) | {path.name: new}, root)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m inference_kit.labs.build", description="Build the labs.")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="write nothing; exit 1 on drift")
    action.add_argument("--badges", metavar="OWNER/NAME", help="publish: set the repository of all links")
    options = parser.parse_args(argv)
    try:
        if options.badges is not None:
            return told(publish(options.badges))
        built = build_all(read_course())
    except MasterError as error:
        print(f"inference-kit: {error}", file=sys.stderr)
        return 1
    if options.check:
        problems = drift(built)
        for problem in problems:
            print(f"drift: {problem}; run make labs", file=sys.stderr)
        return 1 if problems else 0
    for name in unexpected(built):
        print(f"warning: {name} has no master; remove it", file=sys.stderr)
    return told(write(built))


def told(written: list[str]) -> int:
    """Say what was written; the exit code."""
    for name in written:
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
