"""What a lab notebook calls: `check`, `hint`, `show`, `plug`.

Owns the three words a learner sees: "not done yet", "wrong", "done". It runs the visible checks
that come with the kit, so no file beside the notebook is needed. Invariant: it never prints an
input of a hidden check, because it has none.
"""

from __future__ import annotations

import html
import importlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import ModuleType
from typing import Any

from ..errors import KitError
from .attempt_log import note
from .checking import CheckResult, CheckSet, LocalSubject, run_check

SEED = "learner"
_NAME = re.compile(r"^(lab\d\d)\.(q\d+)$")
_hints_given: dict[str, int] = {}


class UnknownQuestion(KitError, ValueError):
    """A name that is no question of any lab in this kit."""


class CheckNotPassed(KitError):
    """The answer is wrong. A notebook shows the message only, without a traceback."""

    word = "wrong"

    def _render_traceback_(self) -> list[str]:
        return [f"{self.word}: {self}"]


class NotDoneYet(CheckNotPassed):
    """The answer still has its TODO lines, or its cell has not been run."""

    word = "not done yet"


@dataclass(frozen=True)
class Done:
    """All visible checks pass. A notebook shows it with the picture."""

    text: str
    picture: Any = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        drawn = self.picture.html() if self.picture is not None else ""
        plain = f"{self.text}\n{self.picture.text}" if self.picture is not None else self.text
        return {"text/html": f"<p><b>✔ {html.escape(self.text)}</b></p>{drawn}", "text/plain": plain}

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Hint:
    """One hint, as markdown."""

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def check(name: str, namespace: Mapping[str, Any] | None = None) -> None:
    """Check the answer to one question, for example `check("lab01.q2")`, and show what `checked` returns.

    It returns nothing, because nbgrader reads the value of a test cell as a partial grade.
    """
    done = checked(name, namespace)
    if _shell() is None:
        print(done)
    else:
        from IPython.display import display

        display(done)


def checked(name: str, namespace: Mapping[str, Any] | None = None) -> Done:
    """Check the answer to one question in the names of the notebook, or of `namespace`.

    Returns `Done`; raises `NotDoneYet` or `CheckNotPassed` with the first case that differs, and
    `UnknownQuestion` for a wrong name.
    """
    lab, question = _split(name)
    checks, facts = load_visible(lab)
    _require_question(name, checks, question)
    subject = LocalSubject(current_names() if namespace is None else namespace)
    results = [run_check(item, subject, SEED) for item in checks.of(question) if item.visible]
    waiting = [result for result in results if result.status in ("not_done", "missing")]
    wrong = [result for result in results if result.status != "passed"]
    word = "not done yet" if waiting else "wrong" if wrong else "done"
    note(name, word, len(results) - len(wrong), len(results))
    if waiting:
        raise NotDoneYet(_not_done_text(name, waiting[0]))
    if wrong:
        raise CheckNotPassed(_wrong_text(name, results, wrong[0]))
    hidden = facts["points"][question] - checks.points(question)
    text = f"done: {name}, all {len(results)} visible checks pass"
    if hidden:
        text += f"; hidden checks worth {hidden} more points run when the lab is graded"
    return Done(text, draw(name, subject))


def _not_done_text(name: str, result: CheckResult) -> str:
    if result.status == "missing":
        return f"{name}: {result.message}"
    return f"{name}: an answer raised NotImplementedError; its TODO lines still wait"


def _wrong_text(name: str, results: list[CheckResult], first: CheckResult) -> str:
    lines = [f"{name}, check {first.name}: {first.message}"]
    if first.misconception:
        lines.append(f"  remember: {first.misconception}")
    passed = [result.name for result in results if result.status == "passed"]
    lines.append(f"  {len(passed)} of {len(results)} visible checks pass: {', '.join(passed) or 'none yet'}")
    return "\n".join(lines)


def hint(name: str) -> Hint:
    """The next of the three hints of a question; after the third one, the third again."""
    lab, question = _split(name)
    checks, facts = load_visible(lab)
    _require_question(name, checks, question)
    hints = facts["hints"][question]
    number = min(_hints_given.get(name, 0), len(hints) - 1)
    _hints_given[name] = number + 1
    return Hint(f"**Hint {number + 1} of {len(hints)}.** {hints[number]}")


def show(name: str) -> Any:
    """The expected picture of a question, drawn from the kit's own parts."""
    lab, question = _split(name)
    _require_question(name, load_visible(lab)[0], question)
    return draw(name, None)


def draw(name: str, subject: LocalSubject | None) -> Any:
    """What the answer did, as a picture; what the kit does when `subject` is None."""
    from .drawings import draw as draw_answer

    return draw_answer(*_split(name), subject)


def plug(lab: str, namespace: Mapping[str, Any] | None = None) -> Any:
    """The learner's parts of a lab; prints which of them the engine gets.

    It gets those that pass their visible checks, and the kit's own for the others.
    """
    from .plugs import parts_of, pluggable

    if lab not in pluggable():
        raise UnknownQuestion(f"{lab!r} has nothing to plug in; known: {', '.join(pluggable())}")
    parts = parts_of(lab, current_names() if namespace is None else namespace)
    print(parts)
    return parts


def load_visible(lab: str) -> tuple[CheckSet, dict[str, Any]]:
    """The visible checks of a lab, and its points and hints, from the package."""
    try:
        module: ModuleType = importlib.import_module(f"inference_kit.labs.visible.{lab}")
    except ModuleNotFoundError as error:
        if error.name != f"inference_kit.labs.visible.{lab}":
            raise
        raise UnknownQuestion(f"this kit has no {lab!r}; known: {', '.join(known_labs())}") from None
    text = resources.files("inference_kit.labs.visible").joinpath(f"{lab}.json").read_text(encoding="utf-8")
    checks = module.CHECKS
    return checks, json.loads(text)


def known_labs() -> list[str]:
    """The labs whose checks are in this kit."""
    names = [item.name for item in resources.files("inference_kit.labs.visible").iterdir()]
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def _split(name: str) -> tuple[str, str]:
    match = _NAME.match(str(name))
    if match is None:
        raise UnknownQuestion(f"{name!r} is not a question; a question is written like 'lab01.q2'")
    return match[1], match[2]


def _require_question(name: str, checks: CheckSet, question: str) -> None:
    if question not in checks.questions:
        raise UnknownQuestion(f"{name!r} does not exist; {checks.lab} has {', '.join(checks.questions)}")


def current_names() -> Mapping[str, Any]:
    """The names of the running notebook, or of the main program where there is none."""
    shell = _shell()
    if shell is not None:
        names: Mapping[str, Any] = shell.user_ns
        return names
    return vars(importlib.import_module("__main__"))


def _shell() -> Any:
    """The running IPython shell, or None where there is none."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
