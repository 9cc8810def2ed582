"""`check`, `hint`, `show` and `plug`, called as a notebook calls them."""

from __future__ import annotations

from typing import Any

import pytest

from inference_kit.labs import check, hint, plug, show
from inference_kit.labs import notebook as notebook_module
from inference_kit.labs.answers import reference_source, splice, stub_source
from inference_kit.labs.build import find_labs
from inference_kit.labs.drawings import drawn_questions
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.notebook import (
    CheckNotPassed,
    NotDoneYet,
    UnknownQuestion,
    checked,
    known_labs,
    load_visible,
)
from inference_kit.labs.plugs.lab01 import Lab01
from inference_kit.lifecycle import TRANSITIONS, Event, IllegalTransition, Request, State
from inference_kit.viz import Picture


def gap(start: Any, end: Any) -> Any:
    return None if start is None or end is None else end - start


def test_done_says_how_many_checks_pass_and_that_hidden_ones_wait() -> None:
    done = checked("lab00.q1", {"gap": gap})
    assert done.text.startswith("done: lab00.q1, all 2 visible checks pass; hidden checks worth 1 ")
    assert isinstance(done.picture, Picture)


def test_check_shows_its_result_and_has_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    value: object = check("lab00.q1", {"gap": gap})  # type: ignore[func-returns-value]
    assert value is None
    assert capsys.readouterr().out.startswith("done: lab00.q1, all 2 visible checks pass")


def test_an_untouched_stub_is_not_done_yet() -> None:
    def stub(start: Any, end: Any) -> Any:
        raise NotImplementedError

    with pytest.raises(NotDoneYet, match="TODO lines still wait") as caught:
        check("lab00.q1", {"gap": stub})
    assert caught.value._render_traceback_()[0].startswith("not done yet: lab00.q1")


def test_a_cell_that_was_not_run_is_not_done_yet() -> None:
    with pytest.raises(NotDoneYet, match="gap is not defined"):
        check("lab00.q1", {})


def test_a_wrong_answer_shows_the_first_case_and_the_misconception() -> None:
    with pytest.raises(CheckNotPassed) as caught:
        check("lab00.q1", {"gap": lambda start, end: start - end})
    (line,) = caught.value._render_traceback_()
    assert line.startswith("wrong: lab00.q1, check gap_of_two_times")
    assert "given: gap(2.0, 5.0)" in line and "expected: 3.0" in line and "got: -3.0" in line
    assert "remember: a gap is end minus start" in line
    assert not isinstance(caught.value, NotDoneYet)


def test_an_answer_of_the_wrong_shape_is_named_as_that() -> None:
    with pytest.raises(CheckNotPassed, match="must return a dict"):
        check("lab01.q1", {"make_transitions": lambda: [1]})


@pytest.mark.parametrize("name", ["q1", "lab01", "lab01.q99", "lab77.q1", "", "lab01.q1; import os", None])
def test_an_unknown_question_is_a_clear_error(name: Any) -> None:
    with pytest.raises(UnknownQuestion):
        check(name, {})


def test_hints_come_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_module, "_hints_given", {})
    texts = [repr(hint("lab01.q2")) for _ in range(4)]
    assert [text[:15] for text in texts] == [
        "**Hint 1 of 3.*",
        "**Hint 2 of 3.*",
        "**Hint 3 of 3.*",
        "**Hint 3 of 3.*",
    ]


@pytest.mark.parametrize("lab", known_labs())
def test_every_question_has_an_expected_picture(lab: str) -> None:
    questions = load_visible(lab)[0].questions
    assert drawn_questions(lab) == set(questions)
    for question in questions:
        assert isinstance(show(f"{lab}.{question}"), Picture)


# --- plug

FILES = LabFiles.read(find_labs()[1])


def names_of(**answers: str) -> dict[str, Any]:
    """A learner's names after the answer cells of lab 01: the reference, or the text given for a question."""
    names: dict[str, Any] = {"__name__": "learner"}
    for question, cell in FILES.cells.items():
        answer = answers.get(question)
        exec(splice(stub_source(cell), answer) if answer else reference_source(cell), names)
    return names


def stubs() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "learner"}
    for cell in FILES.cells.values():
        exec(stub_source(cell), names)
    return names


@pytest.mark.parametrize("names", [{}, stubs()], ids=["no cell was run", "only stubs"])
def test_plugging_nothing_says_that_all_parts_are_the_kits(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    plug("lab01", names)
    assert capsys.readouterr().out.count("not done yet, so the engine gets the one of the kit") == 6


def test_plugging_right_parts_says_that_all_are_yours(capsys: pytest.CaptureFixture[str]) -> None:
    plug("lab01", names_of())
    assert capsys.readouterr().out.count(": yours\n") == 6


def test_an_unknown_lab_has_nothing_to_plug_in() -> None:
    with pytest.raises(UnknownQuestion, match="lab01"):
        plug("lab00", {})


def generate(parts: Lab01, max_tokens: int = 6) -> Any:
    from inference_kit import LLM, SamplingParams

    llm = LLM("tiny", components=parts.components, progress=False)
    output = llm.generate("hello", SamplingParams(max_tokens=max_tokens, ignore_eos=True))[0]
    return llm, output


@pytest.mark.parametrize("names", [{}, names_of()], ids=["the kit's own parts", "the reference answers"])
def test_right_parts_through_the_plug_change_nothing(names: dict[str, Any]) -> None:
    from inference_kit import LLM, SamplingParams

    plain = LLM("tiny", progress=False).generate("hello", SamplingParams(max_tokens=6, ignore_eos=True))[0]
    _, output = generate(Lab01(names))
    assert (output.token_ids, output.finish_reason) == (plain.token_ids, plain.finish_reason)
    assert [event.event for event in output.events] == [event.event for event in plain.events]


def test_a_learners_functions_are_really_called_by_the_engine() -> None:
    names = names_of(
        q2="SEEN = []\n\n\ndef next_state(state, event, table):\n    SEEN.append(event)\n"
        "    if event not in table.get(state, {}):\n"
        "        raise IllegalTransition(state, event, list(table.get(state, {})))\n"
        "    return table[state][event]\n"
    )
    parts = Lab01(names)
    names["SEEN"].clear()
    generate(parts)
    assert {"start_prefill", "start_decode", "finish"} <= set(names["SEEN"])


def test_a_wrong_table_is_tried_in_the_worked_lifecycles_and_stays_out_of_the_engine() -> None:
    table = {str(s): {str(e): str(t) for e, t in moves.items()} for s, moves in TRANSITIONS.items()}
    del table["queued"]["cancel"]
    parts = Lab01({"make_transitions": lambda: table})
    assert parts.words["q1"] == "wrong"
    request = Request("r", lifecycle=parts.trial)
    request.move(Event.TOKENIZE, 0.0)
    request.move(Event.ENQUEUE, 0.0)
    with pytest.raises(IllegalTransition):
        request.move(Event.CANCEL, 0.0)
    assert "cancel" in parts.lifecycle.table["queued"]


def test_a_table_that_is_no_table_breaks_nothing() -> None:
    parts = Lab01({"make_transitions": lambda: 7})
    assert parts.words["q1"] == "wrong"
    assert still_held(parts) == ["0", "0", "0"]


DO_NOTHING = {
    "q1": "def make_transitions():\n    return {}",
    "q2": "def next_state(state, event, table):\n    return state",
    "q3": "def walk(events):\n    return []",
    "q4": "def report_of(steps):\n    return {}",
    "q5": "def settle_once(request, reason, at):\n    return True",
    "q6": "class Holdings:\n    def __init__(self):\n        self.release_errors = []\n\n"
    "    def hold(self, name, release):\n        pass\n\n    def problems(self):\n        return []\n\n"
    "    def release(self):\n        pass",
}
"""An answer to each question that looks like one and does nothing."""


@pytest.mark.parametrize("question", sorted(DO_NOTHING))
def test_a_part_that_does_nothing_is_called_wrong_and_the_engine_still_ends(
    question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = plug("lab01", names_of(**{question: DO_NOTHING[question]}))
    said = capsys.readouterr().out
    assert f"{Lab01.questions[question]}: wrong, so the engine gets the one of the kit" in said
    assert f"check('lab01.{question}') says why" in said
    _, output = generate(parts)
    assert output.finish_reason == "length"
    assert "that is ttft" in parts.report(output.events).text


def still_held(parts: Lab01) -> list[str]:
    return [row.split()[-1] for row in parts.worked_lifecycles().text.split("\n")[2:]]


@pytest.mark.parametrize("question", ["q5", "q6"])
def test_an_end_without_a_release_shows_the_leak(question: str) -> None:
    assert still_held(Lab01(names_of(**{question: DO_NOTHING[question]}))) == ["3", "2", "0"]


def test_an_illegal_move_in_a_worked_lifecycle_is_shown_and_does_not_stop_the_cell() -> None:
    text = Lab01(names_of(q1=DO_NOTHING["q1"])).worked_lifecycles().text
    assert text.count("received; raised IllegalTransition") == 3


def test_right_parts_release_three_two_and_no_blocks() -> None:
    rows = [row.split()[-3:] for row in Lab01(names_of()).worked_lifecycles().text.split("\n")[2:]]
    assert rows == [["3", "3", "0"], ["2", "2", "0"], ["0", "0", "0"]]


def test_the_report_reads_the_engines_log_and_its_parts_sum_to_ttft() -> None:
    parts = Lab01(names_of())
    _, output = generate(parts)
    assert "that is ttft" in parts.report(output.events).text
    assert State(output.events[-1].state) is State.FINISHED
