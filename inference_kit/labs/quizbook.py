"""Five questions at the end of a lab, with an answer behind every option that explains it.

Owns the form of the files in `quizzes/` and how they are shown. Nothing is graded and nothing is kept. An
option is a fold: opening it shows whether it is right, and why. That works live, in a notebook that is
not trusted, in offline HTML, with the keyboard, and without ipywidgets. Invariant: a file with a fault
is refused when it is read, by the name of the lab and the number of the question.
"""

from __future__ import annotations

import html
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from .extract import MasterError
from .notebook import UnknownQuestion

QUESTIONS = 5
OPTIONS = (3, 4)
LETTERS = "ABCD"


@dataclass(frozen=True)
class Question:
    """One question: its options, which of them is right, and why each one is or is not."""

    text: str
    options: tuple[str, ...]
    answer: int
    explain: tuple[str, ...]


@dataclass(frozen=True)
class Quiz:
    """The quiz of one lab. A notebook shows it by itself."""

    lab: str
    questions: tuple[Question, ...]

    def html(self) -> str:
        """The questions as one piece of HTML, every option a fold."""
        parts = [
            f"<p><b>Quiz of {self.lab}.</b> Open the option that you choose. Nothing here is graded.</p>"
        ]
        for number, question in enumerate(self.questions, 1):
            options = "".join(_option(question, index) for index in range(len(question.options)))
            parts.append(
                f"<p style='margin:12px 0 4px'><b>{number}.</b> {_inline(question.text)}</p>{options}"
            )
        return "".join(parts)

    @property
    def text(self) -> str:
        """The questions as text, the answers behind them."""
        lines = []
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number}. {question.text}")
            lines += [f"   {LETTERS[index]}) {option}" for index, option in enumerate(question.options)]
        answers = (
            f"{number}{LETTERS[question.answer]}: {question.explain[question.answer]}"
            for number, question in enumerate(self.questions, 1)
        )
        return "\n".join([*lines, "Answers:", *answers])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def quiz(lab: str) -> Quiz:
    """The quiz of a lab, for example `quiz("lab03")`. Raises `UnknownQuestion` for a lab without one."""
    if lab not in known_quizzes():
        raise UnknownQuestion(f"{lab!r} has no quiz; known: {', '.join(known_quizzes())}")
    text = resources.files("inference_kit.labs.quizzes").joinpath(f"{lab}.toml").read_text(encoding="utf-8")
    return read_quiz(lab, text)


def known_quizzes() -> list[str]:
    """The labs that have a quiz in this kit."""
    names = [item.name for item in resources.files("inference_kit.labs.quizzes").iterdir()]
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def read_quiz(lab: str, text: str) -> Quiz:
    """The quiz in the text of a file. Raises `MasterError` that names the question and the fault."""
    try:
        entries = tomllib.loads(text).get("question", [])
    except tomllib.TOMLDecodeError as error:
        raise MasterError(f"quiz of {lab}: {error}") from error
    if len(entries) != QUESTIONS:
        raise MasterError(f"quiz of {lab}: {len(entries)} questions; allowed: {QUESTIONS}")
    return Quiz(
        lab, tuple(_question(f"quiz of {lab}, question {n}", entry) for n, entry in enumerate(entries, 1))
    )


def _question(where: str, entry: dict[str, Any]) -> Question:
    if set(entry) != {"text", "options", "answer", "explain"}:
        raise MasterError(f"{where}: fields {sorted(entry)}; allowed: text, options, answer, explain")
    options, explain, answer = entry["options"], entry["explain"], entry["answer"]
    texts = [entry["text"], *options, *explain]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise MasterError(f"{where}: every text must be words")
    if not OPTIONS[0] <= len(options) <= OPTIONS[1] or len(set(options)) != len(options):
        raise MasterError(f"{where}: {len(options)} options; allowed: 3 or 4, all different")
    if len(explain) != len(options):
        raise MasterError(f"{where}: {len(explain)} explanations for {len(options)} options")
    if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < len(options):
        raise MasterError(f"{where}: answer {answer!r}; allowed: 0 .. {len(options) - 1}")
    return Question(entry["text"], tuple(options), answer, tuple(explain))


def _option(question: Question, index: int) -> str:
    right = index == question.answer
    word = "✔ Right." if right else "✘ Not this one."
    explanation = _inline(question.explain[index])
    option = f"{LETTERS[index]}) {_inline(question.options[index])}"
    # The second line of a long option stands under its first, not under the sign of the fold.
    summary = f"<summary style='padding-left:1.2em;text-indent:-1.2em'>{option}</summary>"
    answer = f"<p style='margin:2px 0 6px 2.4em'><b>{word}</b> {explanation}</p>"
    return f"<details style='margin-left:1.2em'>{summary}{answer}</details>"


def _inline(text: str) -> str:
    """Words as HTML: `code`, **strong** and *stressed* as in markdown, and everything else as it is."""
    coded = re.sub(r"`([^`]+)`", _code, html.escape(text.strip()))
    strong = re.sub(r"\*\*(\S(?:[^*]*\S)?)\*\*", r"<strong>\1</strong>", coded)
    # A sign between spaces, as in 2 * 3, stresses nothing.
    return re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", strong)


def _code(found: re.Match[str]) -> str:
    # Inside code a star is a star.
    return f"<code>{found[1].replace('*', '&#42;')}</code>"
