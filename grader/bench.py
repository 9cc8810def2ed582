"""W7: how fast submissions are graded, against nbgrader's own command: `python -m grader.bench`.

Two labs: lab 03 without the cells that run the engine (they are not graded, and cost the stock side
ten seconds each time), and a copy of it that imports torch and a model class. Both sides grade the same
submissions with the same checks, each from the start of its command to its end, the start-up of
Python and of the sandbox included. The stock side runs all checks, the hidden ones too, in the
learner's kernel, as nbgrader does; it has no protection. Prints a JSON record.

Owns the two courses and the timing. Invariant: a record is printed only when both sides gave every
submission the expected score.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.utils import is_grade, is_solution
from tqdm import tqdm

from inference_kit.bench.record import origin
from inference_kit.clock import MonotonicClock

from .demo import DemoFailed, Sample, SampleLab, nbgrader, submit
from .judge import question_of
from .sandbox import REPOSITORY, choose

LAB = "lab03_streaming"
TORCH = "import torch\nfrom transformers import LlamaForCausalLM\n"
ENGINE = re.compile(r"\b(plug|LLM)\(")
STOCK_CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = {root!r}
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.submitted_directory = "grader/submitted"
c.CourseDirectory.autograded_directory = "grader/autograded"
c.CourseDirectory.db_url = {database!r}
c.CourseDirectory.ignore = ["*.py", "*.toml", "accept", "reject", "__pycache__"]
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.ExportPlugin.to = {export!r}
"""
STOCK_CHECK = """
from pathlib import Path
from inference_kit.labs.checking import LocalSubject, load_checks, run_check
sum(
    run_check(each, LocalSubject(globals()), 0).earned
    for each in load_checks(Path({checks!r})).of({question!r})
)
"""


class Bench:
    """The courses of one lab, and the submissions that both sides grade."""

    def __init__(self, folder: Path, heavy: bool, count: int) -> None:
        self.folder = folder
        source = without_engine(nbformat.read(REPOSITORY / "solutions" / LAB / f"{LAB}.ipynb", as_version=4))
        if heavy:
            first_given(source).source += f"\n{TORCH}"
        self.ours = make_course(folder / "ours", source, stock=False)
        released = nbformat.read(self.ours / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
        self.samples = make_samples(SampleLab(REPOSITORY / "solutions" / LAB, released), count)
        self.stock = make_course(folder / "stock", source, stock=True)

    def course(self, side: str, samples: list[Sample]) -> Path:
        """A fresh copy of a side's course with these submissions."""
        root = Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(self.ours if side == "ours" else self.stock, root, dirs_exist_ok=True)
        if side == "stock":
            write_stock_config(root)
        submit(root, LAB, samples)
        return root

    def measure(self, side: str, processes: int) -> float:
        """Seconds for all submissions. Raises `DemoFailed` when a score is not the expected one."""
        parts = 1 if side == "ours" else processes
        roots = [self.course(side, self.samples[part::parts]) for part in range(parts)]
        actions: list[Callable[[], None]] = (
            [functools.partial(grade_ours, roots[0], processes)]
            if side == "ours"
            else [functools.partial(nbgrader, root, "autograde", LAB) for root in roots]
        )
        clock = MonotonicClock()
        start_s = clock.now()
        with ThreadPoolExecutor(parts) as pool:
            for future in [pool.submit(action) for action in actions]:
                future.result()
        seconds = clock.now() - start_s
        for part, root in enumerate(roots):
            require_scores(root, self.samples[part::parts])
            shutil.rmtree(root)
        return seconds


def without_engine(notebook: NotebookNode) -> NotebookNode:
    """The notebook without the ungraded cells that run the engine."""
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type != "code" or is_grade(cell) or not ENGINE.search(cell.source)
    ]
    return notebook


def first_given(notebook: NotebookNode) -> NotebookNode:
    """The first code cell that is no answer and no check."""
    given: NotebookNode = next(
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and not is_solution(cell) and not is_grade(cell)
    )
    return given


def make_course(root: Path, source: NotebookNode, stock: bool) -> Path:
    """A course with one lab, released. `stock`: its checks run in the learner's kernel."""
    lab = root / "solutions" / LAB
    lab.mkdir(parents=True)
    for name in ("grader", "labs"):
        (root / name).mkdir()
    checks = REPOSITORY / "solutions" / LAB / "checks.py"
    shutil.copy(checks, lab)
    notebook = nbformat.from_dict(json.loads(json.dumps(source)))
    if stock:
        for cell in notebook.cells:
            asked = question_of(cell)
            if asked is not None and is_grade(cell):
                cell.source = STOCK_CHECK.format(checks=str(checks), question=asked[1])
        write_stock_config(root)
    else:
        shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    nbformat.write(notebook, lab / f"{LAB}.ipynb")
    nbgrader(root, "generate_assignment", LAB)
    return root


def write_stock_config(root: Path) -> None:
    """nbgrader's own steps, with folders named as in the course."""
    database, export = f"sqlite:///{root / 'grader' / 'gradebook.db'}", root / "grader" / "grades.csv"
    text = STOCK_CONFIG.format(root=str(root), database=database, export=str(export))
    (root / "nbgrader_config.py").write_text(text, encoding="utf-8")


def make_samples(lab: SampleLab, count: int) -> list[Sample]:
    """Honest submissions: right ones, and ones with a single fault. No two have the same text."""
    samples = []
    questions = list(lab.slots)
    for number in range(count):
        answers, expected = lab.right(number % 2), lab.full
        if number % 3 == 2:
            question = questions[number % len(questions)]
            wrong = lab.reject[question][number % len(lab.reject[question])]
            answers[question], expected = wrong.source, lab.full - lab.lost(wrong)
        answers = {question: f"{text}\n# submission {number}" for question, text in answers.items()}
        samples.append(Sample(f"s{number:03}", "", lab.notebook(answers), expected))
    return samples


def grade_ours(root: Path, workers: int) -> None:
    """Run the fast path as an instructor does. Raises `DemoFailed`."""
    command = [
        sys.executable,
        "-m",
        "grader",
        "autograde",
        LAB,
        "--workers",
        str(workers),
        "--root",
        str(root),
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DemoFailed(f"grader autograde failed:\n{done.stdout}{done.stderr}")


def require_scores(root: Path, samples: list[Sample]) -> None:
    """Raise `DemoFailed` unless the gradebook has the expected scores."""
    with Gradebook(f"sqlite:///{root / 'grader' / 'gradebook.db'}") as gradebook:
        given = {row.student.id: row.score for row in gradebook.assignment_submissions(LAB)}
    wrong = {
        sample.student: (given.get(sample.student), sample.expected)
        for sample in samples
        if given.get(sample.student) != sample.expected
    }
    if wrong:
        raise DemoFailed(f"scores (given, expected) differ in {root}: {wrong}")


def run(count: int, rounds: int, processes: tuple[int, ...]) -> dict[str, Any]:
    """The record: submissions a minute for each side, and their ratio, by lab and processes."""
    figures: dict[str, Any] = {}
    bar = tqdm(total=2 * 2 * rounds * len(processes), desc="w7", unit="run", disable=None)
    with tempfile.TemporaryDirectory() as folder, bar:
        for lab, heavy in (("light", False), ("torch", True)):
            bench = Bench(Path(folder) / lab, heavy, count)
            for number in processes:
                rates: dict[str, list[float]] = {"stock": [], "ours": []}
                for _ in range(rounds):
                    for side, found in rates.items():
                        found.append(60 * count / bench.measure(side, number))
                        bar.update()
                medians = {side: statistics.median(found) for side, found in rates.items()}
                figures[f"{lab}_{number}"] = {
                    **{f"{side}_per_minute": round(rate, 1) for side, rate in medians.items()},
                    "ratio": round(medians["ours"] / medians["stock"], 2),
                }
    trace = {"lab": LAB, "torch": TORCH, "count": count, "rounds": rounds}
    versions = {name: importlib.metadata.version(name) for name in ("nbgrader", "torch", "transformers")}
    about = origin("w7", trace)
    about["versions"].update(versions)
    return {**about, "level": choose().level, "submissions": count, "rounds": rounds, "figures": figures}


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print the record."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench", description="W7: speed of grading")
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    chosen = parser.parse_args(arguments)
    print(json.dumps(run(chosen.submissions, chosen.rounds, tuple(chosen.processes)), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
