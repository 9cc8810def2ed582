"""The quizzes: every file is well formed, every option explains itself, and a fault is named."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from inference_kit.labs import quiz
from inference_kit.labs.build import find_labs
from inference_kit.labs.extract import MasterError
from inference_kit.labs.notebook import UnknownQuestion
from inference_kit.labs.quizbook import QUESTIONS, known_quizzes, read_quiz

GOOD = (
    """
[[question]]
text = "What is `2 + 2`?"
options = ["three", "four & more", "<five>"]
answer = 1
explain = ["too few", "it is", "too many"]
"""
    * QUESTIONS
)


class Folds(HTMLParser):
    """Counts the folds and collects the words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.details = 0
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.details += tag == "details"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.parametrize("lab", known_quizzes())
def test_every_quiz_can_be_read_and_shown(lab: str) -> None:
    shown = quiz(lab)
    folds = Folds(shown.html())
    assert folds.open == []
    assert folds.details == sum(len(question.options) for question in shown.questions)
    assert folds.words.count("✔ Right.") == QUESTIONS
    assert len({question.text for question in shown.questions}) == QUESTIONS


def test_every_lab_but_the_first_ends_with_a_quiz() -> None:
    for lab in find_labs()[1:]:
        assert lab.lab in known_quizzes()
        assert f'quiz("{lab.lab}")' in lab.master.read_text(encoding="utf-8")


def test_the_right_options_do_not_all_stand_at_the_same_place() -> None:
    for lab in known_quizzes():
        assert len({question.answer for question in quiz(lab).questions}) > 1


def test_words_are_escaped_and_backticks_are_code() -> None:
    html = read_quiz("lab", GOOD).html()
    assert "<code>2 + 2</code>" in html
    assert "&lt;five&gt;" in html
    assert "four &amp; more" in html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the **good** ones", "the <strong>good</strong> ones"),
        ("a *write* into it", "a <em>write</em> into it"),
        ("`a *b* c` and **`x`**", "<code>a &#42;b&#42; c</code> and <strong><code>x</code></strong>"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("a < b & *c*", "a &lt; b &amp; <em>c</em>"),
        ("`", "`"),
    ],
)
def test_stressed_words_are_those_of_markdown(text: str, shown: str) -> None:
    html = read_quiz("lab", GOOD.replace("too few", text)).html()
    assert f"<b>✘ Not this one.</b> {shown}</p>" in html


@pytest.mark.parametrize("lab", known_quizzes())
def test_no_sign_of_markdown_is_left_in_what_is_shown(lab: str) -> None:
    assert "`" not in Folds(quiz(lab).html()).words
    assert "**" not in Folds(quiz(lab).html()).words


def test_it_has_a_text_form_with_the_answers_at_the_end() -> None:
    text = repr(read_quiz("lab", GOOD))
    assert text.startswith("1. What is `2 + 2`?\n   A) three")
    assert text.endswith("5B: it is")


def test_an_unknown_lab_names_those_that_have_one() -> None:
    with pytest.raises(UnknownQuestion, match="lab01"):
        quiz("lab99")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("answer = 1", "answer = 3", r"question 1: answer 3; allowed: 0 \.\. 2"),
        ("answer = 1", "answer = true", "answer True"),
        ('"too many"]', '"too many", "one more"]', "4 explanations for 3 options"),
        ('"three", ', "", "2 options; allowed: 3 or 4"),
        ('"three"', '"<five>"', "all different"),
        ('"too few"', '" "', "every text must be words"),
        ("answer = 1", "solution = 1", "allowed: text, options, answer, explain"),
        ("answer = 1", "answer = ", "quiz of lab"),
    ],
)
def test_a_fault_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(MasterError, match=said):
        read_quiz("lab", GOOD.replace(old, new))


def test_four_questions_are_too_few() -> None:
    with pytest.raises(MasterError, match="4 questions; allowed: 5"):
        read_quiz(
            "lab", GOOD.split("[[question]]", 1)[1].join(["[[question]]", ""]).rsplit("[[question]]", 1)[0]
        )
