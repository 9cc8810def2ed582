"""The prose of the repository: README and the like, lab masters, chapters and quizzes, one document each.

Owns what is read as prose and where its links start from. It finds nothing wrong; `test_links.py` does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inference_kit.labs.build import find_labs
from inference_kit.labs.masters import read_cells
from tests.house.tree import ROOT, kept_files

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
LEARNERS = ROOT / "grader" / "templates" / "learners"
"""Files that `grader publish` puts at the root of the learners' repository."""
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Document:
    """One text.

    Attributes:
        name: its path in the repository.
        text: its prose, without fenced code.
        whole: its prose and its code.
        places: the folders in which readers find it; its relative links start there.
        lab: two digits, for the master and the quiz of a lab.
        chapter: two digits, for a chapter.
    """

    name: str
    text: str
    whole: str
    places: tuple[Path, ...]
    lab: str = ""
    chapter: str = ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """(words, target) of each link."""
        return LINK.findall(self.text)

    @property
    def headings(self) -> list[str]:
        return HEADING.findall(self.text)


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
    return kept.strip().replace(" ", "-")


def prose_of(text: str) -> str:
    """The markdown cells of a master."""
    return "\n\n".join(source for kind, source in read_cells(text) if kind == "markdown")


def strings_of(value: object) -> Iterator[str]:
    """Every string in a parsed TOML file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)


@cache
def documents() -> tuple[Document, ...]:
    """All of them, in order of their names."""
    found = []
    for path in kept_files():
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            place = ROOT if path.is_relative_to(LEARNERS) else path.parent
            found.append(Document(_name(path), FENCE.sub("", text), text, (place,)))
    for lab in find_labs():
        places = (ROOT / "labs" / lab.name, lab.folder)
        text = lab.master.read_text(encoding="utf-8")
        number = lab.lab.removeprefix("lab")
        found.append(Document(_name(lab.master), FENCE.sub("", prose_of(text)), text, places, lab=number))
        quiz = ROOT / "inference_kit" / "labs" / "quizzes" / f"{lab.lab}.toml"
        if quiz.is_file():
            text = quiz.read_text(encoding="utf-8")
            prose = "\n\n".join(strings_of(tomllib.loads(text)))
            found.append(Document(_name(quiz), prose, text, places, lab=number))
    for path in sorted((ROOT / "course" / "src").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        number = path.stem[2:4] if re.match(r"ch\d\d_", path.stem) else ""
        prose = FENCE.sub("", prose_of(text))
        found.append(Document(_name(path), prose, text, (ROOT / "course",), chapter=number))
    return tuple(sorted(found, key=lambda document: document.name))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def target_headings(path: Path) -> frozenset[str]:
    """The anchors of a file that a link may end in: markdown or a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        import nbformat

        cells = nbformat.reads(text, 4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return frozenset(slug(heading) for heading in HEADING.findall(FENCE.sub("", text)))
