"""`check`, `hint`, `show` and `plug`, called as a notebook calls them."""

from __future__ import annotations

from typing import Any

import pytest

from inference_kit.labs import check, hint, plug, show
from inference_kit.labs import notebook as notebook_module
from inference_kit.labs.drawings import DRAWINGS
from inference_kit.labs.notebook import (
    CheckNotPassed,
    NotDoneYet,
    UnknownQuestion,
    known_labs,
    load_visible,
)
from inference_kit.labs.plugs import Lab01
from inference_kit.lifecycle import TRANSITIONS, Event, IllegalTransition, Request, State, settle_once
from inference_kit.viz import Picture


def gap(start: Any, end: Any) -> Any:
    return None if start is None or end is None else end - start


def test_done_says_how_many_checks_pass_and_that_hidden_ones_wait() -> None:
    done = check("lab00.q1", {"gap": gap})
    assert done.text.startswith("done: lab00.q1, all 2 visible checks pass; hidden checks worth 1 ")
    assert isinstance(done.picture, Picture)


def test_done_does_not_look_like_a_number() -> None:
    with pytest.raises(ValueError):
        float(check("lab00.q1", {"gap": gap})._repr_mimebundle_()["text/plain"])


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
    for question in load_visible(lab)[0].questions:
        assert isinstance(show(f"{lab}.{question}"), Picture)
        assert f"{lab}.{question}" in DRAWINGS


def test_there_is_no_drawing_without_a_question() -> None:
    known = {f"{lab}.{question}" for lab in known_labs() for question in load_visible(lab)[0].questions}
    assert set(DRAWINGS) == known


# --- plug


def test_plugging_nothing_says_that_all_parts_are_the_kits(capsys: pytest.CaptureFixture[str]) -> None:
    parts = plug("lab01", {})
    assert parts.yours == set()
    assert capsys.readouterr().out.count("not done yet, so the one of the kit") == 6


def test_an_unknown_lab_has_nothing_to_plug_in() -> None:
    with pytest.raises(UnknownQuestion, match="lab01"):
        plug("lab00", {})


def plugged(**names: Any) -> Lab01:
    return Lab01(names)


def generate(parts: Lab01, max_tokens: int = 6) -> Any:
    from inference_kit import LLM, SamplingParams

    llm = LLM("tiny", components=parts.components, progress=False)
    output = llm.generate("hello", SamplingParams(max_tokens=max_tokens, ignore_eos=True))[0]
    return llm, output


def test_the_kits_own_parts_through_the_plug_change_nothing() -> None:
    from inference_kit import LLM, SamplingParams

    plain = LLM("tiny", progress=False).generate("hello", SamplingParams(max_tokens=6, ignore_eos=True))[0]
    _, output = generate(plugged())
    assert (output.token_ids, output.finish_reason) == (plain.token_ids, plain.finish_reason)
    assert [event.event for event in output.events] == [event.event for event in plain.events]


def test_a_learners_function_is_really_called_by_the_engine() -> None:
    seen: list[tuple[str, str]] = []

    def next_state(state: str, event: str, table: Any) -> Any:
        seen.append((state, event))
        if event not in table.get(state, {}):
            raise ValueError(event)
        return table[state][event]

    generate(plugged(next_state=next_state))
    assert ("prefill", "start_decode") in seen and ("decode", "finish") in seen


def test_a_learners_table_decides() -> None:
    table = {str(s): {str(e): str(t) for e, t in moves.items()} for s, moves in TRANSITIONS.items()}
    del table["queued"]["admit"]
    parts = plugged(make_transitions=lambda: table)
    request = Request("r", lifecycle=parts.lifecycle)
    request.move(Event.TOKENIZE, 0.0)
    request.move(Event.ENQUEUE, 0.0)
    with pytest.raises(IllegalTransition):
        request.move(Event.ADMIT, 0.0)


class Forgetful:
    """A release path that gives nothing back."""

    def __init__(self) -> None:
        self.release_errors: list[Exception] = []

    def hold(self, name: str, release: Any) -> None:
        pass

    def problems(self) -> list[str]:
        return []

    def release(self) -> None:
        pass


def test_a_wrong_release_path_leaks_blocks() -> None:
    parts = plugged(Holdings=Forgetful)
    assert [row.split()[-1] for row in parts.worked_lifecycles().text.split("\n")[2:]] == ["3", "2", "0"]


def test_right_parts_release_three_two_and_no_blocks() -> None:
    rows = [row.split()[-3:] for row in plugged().worked_lifecycles().text.split("\n")[2:]]
    assert rows == [["3", "3", "0"], ["2", "2", "0"], ["0", "0", "0"]]


def test_a_settle_that_never_ends_is_seen_by_the_engine() -> None:
    calls: list[str] = []

    def settle(request: Any, reason: Any, at: float) -> bool:
        calls.append(str(reason))
        return settle_once(request, reason, at)

    names = {"settle_once": settle, "DemoRequest": _demo}
    generate(plugged(**names))
    assert calls[-1] == "length"


def _demo(state: str, on_release: Any) -> Request:
    from inference_kit.labs.drawings import _kit_request

    return _kit_request(state, on_release)


def test_the_report_reads_the_engines_log_and_its_parts_sum_to_ttft() -> None:
    parts = plugged()
    _, output = generate(parts)
    assert "that is ttft" in parts.report(output.events).text
    assert State(output.events[-1].state) is State.FINISHED
