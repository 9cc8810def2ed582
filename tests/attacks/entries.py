"""The corpus: one file for each attack and each honest oddity, and how a file becomes a submission.

A file opens with a docstring: what it tries, then lines of `name: value`.

    scores   the points that each question must get
    holds    the sandbox levels at which that is so
    cells    the answer cells that get the text below the docstring (default: q1)
    others   `reference` (default) or `stub`: what the other answer cells hold
    form     `notebook`: the file has a function `write(path)` that writes the submission itself

In the text, `@COURSE@` stands for the course's folder, `@REPOSITORY@` for that of the grader, `@PID@`
for the grader's process, `@PORT@` for a port that listens, and `@SURVIVOR@` for a name by which a
process that was left behind is found: the attacker knows where everything is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.grader import fake_lab

HERE = Path(__file__).parent
QUESTIONS = tuple(fake_lab.REFERENCE)


@dataclass(frozen=True)
class Entry:
    """One file of the corpus."""

    name: str
    what: str
    scores: dict[str, float]
    holds: tuple[str, ...]
    cells: tuple[str, ...]
    others: str
    form: str
    text: str
    """What stands below the docstring."""

    @property
    def kind(self) -> str:
        """The first word of its name."""
        return self.name.split("_", 1)[0]


def read(path: Path) -> Entry:
    """One file of the corpus. Raises ValueError for one that does not say what it must."""
    source = path.read_bytes().decode("utf-8")
    end = source.index('"""', 3) + 3
    docstring = ast.literal_eval(source[:end])
    what, _, rest = docstring.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in rest.splitlines() if line)
    scores = {name: float(points) for name, points in (pair.split("=") for pair in fields["scores"].split())}
    if tuple(scores) != QUESTIONS:
        raise ValueError(f"{path}: scores must name {', '.join(QUESTIONS)}")
    return Entry(
        path.stem,
        what,
        scores,
        tuple(fields["holds"].split()),
        tuple(fields.get("cells", "q1").split()),
        fields.get("others", "reference"),
        fields.get("form", "cell"),
        source[end:].lstrip("\n"),
    )


def entries(folder: str) -> list[Entry]:
    """Every file of `corpus` or `honest`, by name."""
    return [read(path) for path in sorted((HERE / folder).glob("*.py"))]


def submit(root: Path, entry: Entry, names: dict[str, str]) -> None:
    """Write an entry's submission into a course. `names`: what the placeholders stand for."""
    text = entry.text
    for name, value in names.items():
        text = text.replace(f"@{name}@", value)
    path = root / "grader" / "submitted" / entry.name / fake_lab.ASSIGNMENT / f"{fake_lab.ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True)
    if entry.form == "notebook":
        namespace = {"COURSE": root}
        exec(compile(text, f"<{entry.name}>", "exec"), namespace)
        namespace["write"](path)  # type: ignore[operator]
        return
    stub = {question: "raise NotImplementedError" for question in QUESTIONS} if entry.others == "stub" else {}
    answers = {**stub, **{question: text for question in entry.cells}}
    path.write_text(fake_lab.json.dumps(fake_lab.submission(**answers)), encoding="utf-8")
