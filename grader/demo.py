"""A sample class for every lab, graded and compared with what was expected: `python -m grader demo`.

Owns the sample submissions and the comparison. One lab is graded by nbgrader's own commands, all
others by the fast path. Everything happens in a course root of its own under `build/`, so no real
gradebook is touched. Invariant: no expected score is written here;
each follows from what the lab's accept and reject sets and checks declare.
"""

from __future__ import annotations

import copy
import csv
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_solution
from tqdm import tqdm

from inference_kit.clock import MonotonicClock
from inference_kit.errors import KitError
from inference_kit.labs.answers import Answer, read_answers
from inference_kit.labs.checking import CheckSet, load_checks

from .batch import autograde, settings_of
from .course import Course
from .graft import Slot, slots_of
from .sandbox import AUTO, REPOSITORY, choose

STOCK_LAB = "lab01_lifecycle"
"""The lab that nbgrader's own commands grade; the fast path grades the others."""
DEMO_ROOT = REPOSITORY / "build" / "grade-demo"

LIAR = """
class AlwaysEqual:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self


def {name}(*args, **kwargs):
    return AlwaysEqual()
"""


class DemoFailed(KitError):
    """A command failed, or a score is not the expected one; the message says which."""


@dataclass(frozen=True)
class Sample:
    """One submission of the sample class and the points its answers are worth."""

    student: str
    what: str
    notebook: NotebookNode
    expected: float


class SampleLab:
    """What a lab declares: its stubs, right answers, wrong answers and the points of its checks."""

    def __init__(self, folder: Path, released: NotebookNode) -> None:
        self.released = released
        self.checks: CheckSet = load_checks(folder / "checks.py")
        slots = {slot.marker.split("/")[1]: slot for slot in slots_of(released) if slot.marker}
        self.slots: dict[str, Slot] = {question: slots[question] for question in self.checks.questions}
        stubs = {question: slot.stub for question, slot in self.slots.items()}
        self.accept = by_question(read_answers(folder / "accept", stubs))
        self.reject = by_question(read_answers(folder / "reject", stubs))
        for question in self.slots:
            if len(self.accept.get(question, [])) < 2 or not self.reject.get(question):
                raise DemoFailed(f"{folder.name}/{question} needs two accept answers and a reject answer")

    @property
    def full(self) -> int:
        """Points of all checks."""
        return sum(check.points for check in self.checks.checks)

    def lost(self, answer: Answer) -> int:
        """Points of the checks that an answer declares to fail."""
        return sum(check.points for check in self.checks.of(answer.question) if check.name in answer.fails)

    def right(self, variant: int = 0) -> dict[str, str]:
        """A right answer for each question; `variant` picks one of the accept set."""
        return {question: self.accept[question][variant].source for question in self.slots}

    def notebook(self, answers: dict[str, str]) -> NotebookNode:
        """The released notebook with these answers; a question without one keeps its stub."""
        notebook = copy.deepcopy(self.released)
        sources = {self.slots[question].grade_id: source for question, source in answers.items()}
        for cell in notebook.cells:
            if is_solution(cell):
                cell.source = sources.get(cell.metadata.nbgrader["grade_id"], cell.source)
        return notebook


def by_question(answers: list[Answer]) -> dict[str, list[Answer]]:
    """Answers in their order, by question."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.question, []).append(answer)
    return found


# --- the class ------------------------------------------------------------------------------------


def sample_class(lab: SampleLab) -> list[Sample]:
    """The whole class: honest work, single faults, accidents and attacks."""
    samples = [*honest(lab), *single_faults(lab), *accidents(lab), *attacks(lab)]
    return [
        Sample(f"s{number:02}-{sample.student}", sample.what, sample.notebook, sample.expected)
        for number, sample in enumerate(samples, 1)
    ]


def honest(lab: SampleLab) -> Iterator[Sample]:
    """Right in two ways, partly right, nothing done."""
    yield Sample("right", "right, one way", lab.notebook(lab.right(0)), lab.full)
    yield Sample("right-too", "right, another way", lab.notebook(lab.right(1)), lab.full)
    half = list(lab.slots)[: len(lab.slots) // 2]
    answers = {question: source for question, source in lab.right().items() if question in half}
    points = sum(lab.checks.points(question) for question in half)
    yield Sample("half", "the first half of the questions", lab.notebook(answers), points)
    yield Sample("stub", "nothing done", lab.notebook({}), 0)


def single_faults(lab: SampleLab) -> Iterator[Sample]:
    """One wrong answer for each of six questions (fewer questions: more faults of each)."""
    questions = list(lab.slots)
    for number in range(6):
        question = questions[number % len(questions)]
        wrong = lab.reject[question][number // len(questions)]
        notebook = lab.notebook({**lab.right(), question: wrong.source})
        yield Sample(f"fault-{number + 1}", f"{question}: {wrong.name}", notebook, lab.full - lab.lost(wrong))


def accidents(lab: SampleLab) -> Iterator[Sample]:
    """A cell that raises, a graded cell pasted twice, a warning, metadata stripped."""
    first, *_, last = lab.slots
    raises = {**lab.right(), last: f"{marker_line(lab, last)}\nraise RuntimeError('broken cell')"}
    yield Sample(
        "raises", f"{last}: the cell raises", lab.notebook(raises), lab.full - lab.checks.points(last)
    )
    pasted = lab.notebook(lab.right())
    pasted.cells += [copy.deepcopy(cell) for cell in pasted.cells if "nbgrader" in cell.metadata][:2]
    yield Sample("pasted", "an answer and its check pasted again", pasted, lab.full)
    warns = {**lab.right(), first: f"{lab.right()[first]}\nimport warnings\nwarnings.warn('careful')"}
    yield Sample("warns", f"{first}: warns on stderr", lab.notebook(warns), lab.full)
    stripped = lab.notebook(lab.right())
    for cell in stripped.cells:
        cell.metadata.clear()
    yield Sample("stripped", "all metadata stripped", stripped, lab.full)


def attacks(lab: SampleLab) -> Iterator[Sample]:
    """Skipped checks, an ended process, an endless loop, an object that equals everything."""
    questions = list(lab.slots)
    first, second, third = (questions[number % len(questions)] for number in range(3))
    skipped = lab.notebook({})
    for cell in skipped.cells:
        cell.metadata["tags"] = ["skip-execution"]
    skipped.cells.insert(0, new_code_cell("check = print"))
    yield Sample("skip", "nothing done, all cells tagged skip-execution", skipped, 0)
    bodies = {
        "exit": (second, "import os\nos._exit(0)", "os._exit in the cell"),
        "loop": (third, "while True:\n    pass", "an endless loop in the cell"),
        "liar": (first, LIAR.format(name=lab.slots[first].name), "an object that equals everything"),
    }
    for student, (question, body, what) in bodies.items():
        answers = {**lab.right(), question: f"{marker_line(lab, question)}\n{body}"}
        points = lab.full - lab.checks.points(question)
        yield Sample(student, f"{question}: {what}", lab.notebook(answers), points)


def marker_line(lab: SampleLab, question: str) -> str:
    """First line of a question's answer cell."""
    return lab.slots[question].stub.split("\n")[0]


# --- the course and the commands ----------------------------------------------------------------------


def prepare_root(root: Path, labs: Sequence[str]) -> None:
    """A fresh course root with these labs. What an earlier run left is removed."""
    for lab in labs:
        if not (REPOSITORY / "solutions" / lab / f"{lab}.ipynb").is_file():
            raise DemoFailed(f"{lab} is not built; run 'make labs'")
    shutil.rmtree(root, ignore_errors=True)
    for name in ("grader", "labs", "solutions"):
        (root / name).mkdir(parents=True)
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    for lab in labs:
        shutil.copytree(REPOSITORY / "solutions" / lab, root / "solutions" / lab)


def nbgrader(root: Path, *arguments: str, on_line: Callable[[str], None] | None = None) -> None:
    """Run one stock nbgrader command in a course root. Raises `DemoFailed` with its last lines."""
    bin_folder = Path(sys.executable).parent
    path = os.pathsep.join([str(bin_folder), os.environ.get("PATH", "")])
    python_path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [str(bin_folder / "nbgrader"), *arguments],
        cwd=root,
        env={**os.environ, "PATH": path, "PYTHONPATH": python_path, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if on_line is not None:
            on_line(line)
    if process.wait() != 0:
        raise DemoFailed(f"nbgrader {' '.join(arguments)} failed:\n{''.join(lines[-15:])}")


def submit(root: Path, lab: str, samples: list[Sample]) -> None:
    """Write the submissions where nbgrader collects them."""
    for sample in samples:
        folder = root / "grader" / "submitted" / sample.student / lab
        folder.mkdir(parents=True)
        (folder / f"{lab}.ipynb").write_text(json.dumps(sample.notebook), encoding="utf-8")


def exported_scores(root: Path) -> dict[tuple[str, str], float]:
    """Raw score by (lab, student), as `nbgrader export` wrote it."""
    with (root / "grader" / "exports" / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {
            (row["assignment"], row["student_id"]): float(row["raw_score"]) for row in csv.DictReader(file)
        }


def nbgrader_with_bar(root: Path, total: int, command: str, *arguments: str) -> None:
    """Run a command that handles each submission in turn, and show how far it is."""
    with tqdm(total=total, desc=command, unit="submission", disable=None) as bar:

        def count(line: str) -> None:
            bar.update("Setting destination file permissions" in line)

        nbgrader(root, command, *arguments, on_line=count)


@dataclass
class Graded:
    """The sample class after grading."""

    samples: dict[str, list[Sample]]
    """By lab."""
    scores: dict[tuple[str, str], float]
    """By (lab, student)."""
    stages: dict[str, float]
    """Seconds by stage."""


def grade_class(root: Path, level: str, labs: Sequence[str]) -> Graded:
    """Build the class and grade it. Raises `DemoFailed`."""
    clock = MonotonicClock()
    stages: dict[str, float] = {}

    def timed(stage: str, action: Callable[[], None]) -> None:
        start_s = clock.now()
        action()
        stages[stage] = stages.get(stage, 0.0) + clock.now() - start_s

    prepare_root(root, labs)
    samples = {}
    for lab in tqdm(labs, desc="generate_assignment", unit="lab", disable=None):
        timed("nbgrader generate_assignment", functools.partial(nbgrader, root, "generate_assignment", lab))
        released = nbformat.read(root / "labs" / lab / f"{lab}.ipynb", as_version=4)
        samples[lab] = sample_class(SampleLab(REPOSITORY / "solutions" / lab, released))
        submit(root, lab, samples[lab])
    if STOCK_LAB in labs:
        total, option = len(samples[STOCK_LAB]), f"--Judge.sandbox={level}"
        timed("nbgrader autograde", lambda: nbgrader_with_bar(root, total, "autograde", STOCK_LAB, option))
        timed(
            "nbgrader generate_feedback",
            lambda: nbgrader_with_bar(root, total, "generate_feedback", STOCK_LAB),
        )
    others = [lab for lab in labs if lab != STOCK_LAB]
    timed("grader autograde", lambda: grade_fast(root, level, others))
    timed("nbgrader export", lambda: nbgrader(root, "export"))
    return Graded(samples, exported_scores(root), stages)


def grade_fast(root: Path, level: str, labs: Sequence[str]) -> None:
    """Grade labs by the fast path. Raises `DemoFailed` when a submission could not be graded."""
    course = Course(root)
    report = autograde(course, labs, os.cpu_count() or 1, settings_of(course, level))
    if report.failed:
        raise DemoFailed(f"not graded: {report.failed}")


def print_scores(graded: Graded) -> int:
    """Print expected and given scores side by side; returns how many differ."""
    wrong = 0
    for lab, samples in graded.samples.items():
        print(f"\n{lab}\n{'student':<18}{'expected':>9}{'given':>7}  what")
        for sample in samples:
            given = graded.scores.get((lab, sample.student))
            same = given is not None and abs(given - sample.expected) < 1e-9
            wrong += not same
            shown = "-" if given is None else f"{given:g}"
            note = "" if same else "DIFFERS: "
            print(f"{sample.student:<18}{sample.expected:>9g}{shown:>7}  {note}{sample.what}")
    return wrong


def run(level: str = AUTO, root: Path = DEMO_ROOT) -> int:
    """Grade the sample class and print expected and given scores. 0 only when all are equal."""
    print(f"sandbox level: {choose(level).level}")
    graded = grade_class(root, level, Course(REPOSITORY).assignments())
    wrong = print_scores(graded)
    total = sum(len(samples) for samples in graded.samples.values())
    print(f"\n{total} submissions of {len(graded.samples)} labs, {total - wrong} scored as expected")
    for stage, seconds in graded.stages.items():
        print(f"  {stage:<30}{seconds:7.2f} s")
    if wrong:
        print(f"grader: {wrong} scores differ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    from .cli import main

    sys.exit(main(["demo", *sys.argv[1:]]))
