"""The checking framework: what a check sees, what a result says, what an answer cannot do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from inference_kit.labs.checking import (
    AnswerRaised,
    Callback,
    CallbackRaises,
    Check,
    CheckResult,
    CheckSet,
    LocalSubject,
    Mismatch,
    MissingAnswer,
    NotDone,
    NotPlain,
    Subject,
    expect,
    expect_raises,
    run_check,
)


def one_check(function: Callable[[Subject, random.Random], None], visible: bool = True) -> Check:
    checks = CheckSet("lab99")
    checks.check("q1", 2, visible, "a misconception")(function)
    return checks.checks[0]


def result(
    function: Callable[[Subject, random.Random], None], visible: bool = True, **names: Any
) -> CheckResult:
    return run_check(one_check(function, visible), LocalSubject(names), 0)


def calls_f(s: Subject, rng: random.Random) -> None:
    expect(s.call("f", 3), 9, given="f(3)")


def stub(x: int) -> int:
    raise NotImplementedError


class Fancy(ValueError):
    pass


def raises(x: int) -> int:
    raise Fancy(f"secret input {x}")


@pytest.mark.parametrize(
    ("answer", "status", "earned"),
    [
        (lambda x: x * x, "passed", 2),
        (lambda x: x, "failed", 0),
        (stub, "not_done", 0),
        (raises, "raised", 0),
        (lambda x: object(), "not_plain", 0),
        (lambda: 9, "raised", 0),
        (exit, "raised", 0),
    ],
)
def test_each_kind_of_answer_has_its_status(answer: Any, status: str, earned: int) -> None:
    given = result(calls_f, f=answer)
    assert (given.status, given.earned) == (status, earned)


def test_an_undefined_name_is_missing() -> None:
    assert result(calls_f).status == "missing"


def test_a_visible_result_names_input_expected_and_got() -> None:
    message = result(calls_f, f=lambda x: x + 1).message
    assert "f(3)" in message and "expected: 9" in message and "got: 4" in message


@pytest.mark.parametrize("answer", [raises, lambda x: f"secret {x}", lambda x: {x: object()}])
def test_a_hidden_result_shows_no_input(answer: Any) -> None:
    given = result(calls_f, visible=False, f=answer)
    assert given.earned == 0
    assert not any(word in given.message for word in ("3", "secret", "9"))


def test_the_misconception_is_named_only_when_the_check_is_lost() -> None:
    assert result(calls_f, f=lambda x: 9).misconception == ""
    assert result(calls_f, f=lambda x: 8).misconception == "a misconception"


def test_a_check_that_stumbles_over_an_odd_shape_is_failed() -> None:
    def look_inside(s: Subject, rng: random.Random) -> None:
        expect(s.call("f", 3)["a"][0], 1)

    assert result(look_inside, f=lambda x: None).status == "failed"


def test_the_same_seed_gives_the_same_cases_and_another_seed_others() -> None:
    def draw(s: Subject, rng: random.Random) -> None:
        s.call("note", rng.randint(0, 10**9))

    seen: list[int] = []
    check = one_check(draw)
    for seed in (1, 1, 2):
        run_check(check, LocalSubject({"note": seen.append}), seed)
    assert seen[0] == seen[1] != seen[2]


# --- comparing


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (2, 2.0),
        ([1, (2,)], (1, [2])),
        (float("nan"), float("nan")),
        ({"a": None}, {"a": None}),
        ({1, 2}, {2, 1}),
    ],
)
def test_equal_plain_values_pass(got: Any, expected: Any) -> None:
    expect(got, expected)


@pytest.mark.parametrize(
    ("got", "expected", "path"),
    [
        (True, 1, "result"),
        (1, True, "result"),
        (None, 0, "result"),
        ("1", 1, "result"),
        ([1, 2], [1, 3], r"result\[1\]"),
        ([1], [1, 2], "1 items instead of 2"),
        ({"a": [0]}, {"a": [1]}, r"result\['a'\]\[0\]"),
        ({}, {"a": 1}, "lacks the key 'a'"),
        ({"a": 1, "b": 2}, {"a": 1}, "key too many"),
        ({1}, {2}, "result"),
        (b"a", "a", "result"),
    ],
)
def test_the_first_difference_is_named_with_its_path(got: Any, expected: Any, path: str) -> None:
    with pytest.raises(Mismatch, match=path):
        expect(got, expected)


def test_a_tolerance_allows_that_difference_and_no_more() -> None:
    expect(1.0, 1.05, tol=0.1)
    with pytest.raises(Mismatch):
        expect(1.0, 1.2, tol=0.1)


def test_an_object_that_equals_everything_is_refused() -> None:
    class Yes:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(Mismatch, match="not plain"):
        expect(Yes(), 1)
    assert result(calls_f, f=lambda x: Yes()).status == "not_plain"


# --- the local subject


class Counter:
    def __init__(self, start: int, tell: Callable[[int], Any] = print) -> None:
        self.value = start
        self.tell = tell

    def add(self, amount: int) -> Any:
        self.value += amount
        return self.tell(self.value)


def subject(**names: Any) -> LocalSubject:
    return LocalSubject({"Counter": Counter, **names})


def test_an_instance_stays_on_the_answers_side() -> None:
    s = subject()
    handle = s.new("Counter", 3, Callback(lambda value: value * 10))
    assert s.method(handle, "add", 4) == 70
    assert s.attr(handle, "value") == 7


def test_a_handle_can_be_an_argument() -> None:
    s = subject(peek=lambda counter: counter.value)
    assert s.call("peek", s.new("Counter", 5)) == 5


def test_a_missing_attribute_is_a_missing_answer() -> None:
    s = subject()
    with pytest.raises(MissingAnswer):
        s.method(s.new("Counter", 1), "subtract", 1)


def test_an_instance_itself_is_not_plain() -> None:
    with pytest.raises(NotPlain) as caught:
        subject().call("Counter", 1)
    assert caught.value.type_name == "Counter"


def test_arguments_and_results_are_copies() -> None:
    kept: list[Any] = []
    s = LocalSubject({"keep": lambda item: kept.append(item) or item})
    given = [1]
    returned = s.call("keep", given)
    kept[0].append(2)
    assert given == [1] and returned == [1]


def test_the_raised_type_and_its_bases_are_named() -> None:
    with pytest.raises(AnswerRaised) as caught:
        subject(f=raises).call("f", 1)
    assert caught.value.type_name == "Fancy"
    assert caught.value.bases[:2] == ("Fancy", "ValueError")


def test_not_implemented_is_not_done() -> None:
    with pytest.raises(NotDone):
        subject(f=stub).call("f", 1)


def test_a_callback_can_raise_a_builtin_exception_into_the_answer() -> None:
    def answer(release: Callable[[], None]) -> str:
        try:
            release()
        except KeyError as error:
            return str(error)
        return "nothing"

    def fail() -> None:
        raise CallbackRaises("KeyError", "gone")

    assert subject(f=answer).call("f", Callback(fail)) == "'gone'"


def test_a_mismatch_in_a_callback_reaches_the_check_even_if_the_answer_swallows_it() -> None:
    def answer(release: Callable[[], None]) -> str:
        try:
            release()
        except Exception:
            return "swallowed"
        return "fine"

    def fail() -> None:
        expect(1, 2)

    with pytest.raises(Mismatch):
        subject(f=answer).call("f", Callback(fail))


def test_a_callback_may_use_the_subject_again() -> None:
    s = subject(f=lambda depth, again: again(depth - 1) if depth else "bottom")
    again = Callback(lambda depth: s.call("f", depth, again))
    assert s.call("f", 3, again) == "bottom"


def test_an_answer_cannot_hand_a_foreign_object_to_a_callback() -> None:
    s = subject(f=lambda tell: tell(object()))
    with pytest.raises(NotPlain):
        s.call("f", Callback(lambda value: None))


# --- expect_raises


def test_expect_raises_accepts_a_subclass_and_returns_the_message() -> None:
    s = subject(f=raises)
    assert "secret" in expect_raises(lambda: s.call("f", 1), "ValueError").message


@pytest.mark.parametrize("answer", [raises, lambda x: x])
def test_expect_raises_refuses_another_type_and_no_exception(answer: Any) -> None:
    s = subject(f=answer)
    with pytest.raises(Mismatch):
        expect_raises(lambda: s.call("f", 1), "KeyError")


def test_expect_raises_lets_not_done_pass() -> None:
    s = subject(f=stub)
    with pytest.raises(NotDone):
        expect_raises(lambda: s.call("f", 1), "Exception")


# --- check sets


def test_a_check_set_keeps_order_and_points() -> None:
    checks = CheckSet("lab99")
    for question, name, points in (("q2", "a", 1), ("q1", "b", 2), ("q2", "c", 3)):
        function = lambda s, rng: None  # noqa: E731
        function.__name__ = name
        checks.check(question, points)(function)
    assert checks.questions == ("q2", "q1")
    assert checks.points("q2") == 4


def test_two_checks_of_one_name_are_refused() -> None:
    checks = CheckSet("lab99")
    checks.check("q1")(calls_f)
    with pytest.raises(ValueError, match="calls_f"):
        checks.check("q2")(calls_f)


def test_an_unknown_question_names_the_known_ones() -> None:
    checks = CheckSet("lab99")
    checks.check("q1")(calls_f)
    with pytest.raises(KeyError, match="q1"):
        checks.points("q7")
