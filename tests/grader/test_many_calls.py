"""Many calls in one trip give what the same calls give one by one, here and in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.remote import GROUP, ProgramCell, RemoteSubject, Runner
from grader.sandbox import Limits, Sandbox
from inference_kit.labs.checking import (
    AnswerDied,
    AnswerError,
    AnswerRaised,
    Callback,
    LocalSubject,
    Subject,
    in_order,
    recorded,
)

SOURCE = """
class Meter:
    def __init__(self):
        self.total = 0
    def add(self, n):
        if n < 0:
            raise ValueError(f"{n} is below 0")
        self.total += n
        return self.total
    def todo(self, n):
        raise NotImplementedError
    def itself(self, n):
        return self
def half(n):
    return [n / 2, str(n), None if n else {"zero": (n,)}]
def die(n):
    import os
    if n == 3:
        os._exit(1)
    return n
"""
Outcome = tuple[str, Any]


def outcome(action: Callable[[], Any]) -> Outcome:
    """The value, or the kind of error and its words."""
    try:
        return "value", action()
    except AnswerError as error:
        return type(error).__name__, str(error)


def remote(sandbox: Sandbox) -> RemoteSubject:
    subject = Runner((ProgramCell("meter", SOURCE, answer=True),), sandbox, Limits()).start()
    subject.begin(60)
    return subject


def local() -> LocalSubject:
    namespace: dict[str, Any] = {}
    exec(SOURCE, namespace)
    return LocalSubject(namespace)


@pytest.fixture(scope="module", params=["local", "remote"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """An answer in this process, and one in a worker."""
    if request.param == "local":
        yield local()
        return
    found = remote(request.getfixturevalue("rlimits"))
    yield found
    found.close()


REQUEST = st.tuples(st.sampled_from(["add", "todo", "itself", "lacks"]), st.integers(-2, 3))


@settings(max_examples=30, deadline=None)
@given(requests=st.lists(REQUEST, max_size=12))
def test_methods_are_the_same_as_method_after_method(
    subject: Subject, requests: list[tuple[str, int]]
) -> None:
    one, many = subject.new("Meter"), subject.new("Meter")
    single = [outcome(lambda r=r: subject.method(one, *r)) for r in requests]  # type: ignore[misc]
    assert [outcome(result) for result in subject.methods(many, requests)] == single
    assert subject.attr(many, "total") == subject.attr(one, "total")


@settings(max_examples=10, deadline=None)
@given(numbers=st.lists(st.integers(0, 5), max_size=2 * GROUP + 1), name=st.sampled_from(["half", "lacks"]))
def test_calls_are_the_same_as_call_after_call(subject: Subject, numbers: list[int], name: str) -> None:
    single = [outcome(lambda n=n: subject.call(name, n)) for n in numbers]  # type: ignore[misc]
    assert [outcome(result) for result in subject.calls(name, [(n,) for n in numbers])] == single


def test_a_result_can_be_asked_for_in_any_order_and_twice(subject: Subject) -> None:
    results = subject.methods(subject.new("Meter"), [("add", 1), ("add", -1), ("add", 2)])
    assert [results[2](), results[0](), results[2]()] == [3, 1, 3]
    for _ in range(2):
        with pytest.raises(AnswerRaised, match="below 0"):
            results[1]()


def test_a_worker_that_dies_among_many_calls_is_lost(sandbox: Sandbox) -> None:
    subject = remote(sandbox)
    try:
        with pytest.raises(AnswerDied):
            [result() for result in subject.calls("die", [(n,) for n in range(5)])]
        assert subject.lost is not None
    finally:
        subject.close()


def test_one_of_many_calls_cannot_be_given_a_callback(rlimits: Sandbox) -> None:
    subject = remote(rlimits)
    try:
        with pytest.raises(TypeError, match="Callback"):
            subject.calls("half", [(1,), (Callback(len),)])
    finally:
        subject.close()


@given(st.permutations(range(6)))
def test_actions_run_once_and_in_order(asked: list[int]) -> None:
    ran: list[int] = []
    results = in_order([lambda n=n: ran.append(n) for n in range(6)])  # type: ignore[misc]
    for index in asked:
        results[index]()
    assert ran == list(range(6))


def test_a_worker_that_was_prepared_gives_what_another_gives(sandbox: Sandbox) -> None:
    runner = Runner((ProgramCell("meter", SOURCE, answer=True),), sandbox, Limits())
    first = runner.start()
    runner.prepare()
    runner.prepare()
    first.begin(60)
    first.call("half", 1)
    first.close()
    second = runner.start()
    second.begin(60)
    assert second.call("half", 1) == [0.5, "1", None]
    second.close()
    runner.prepare()
    runner.close()
    runner.close()


def test_a_cell_that_kills_every_worker_is_left_out_of_the_prepared_one_too(sandbox: Sandbox) -> None:
    cells = (
        ProgramCell("good", "def one(): return 1", answer=True),
        ProgramCell("bad", "import os\nos._exit(1)", answer=True),
    )
    runner = Runner(cells, sandbox, Limits())
    runner.prepare()
    subject = runner.start()
    runner.prepare()
    try:
        for found in (subject, runner.start()):
            found.begin(60)
            assert found.call("one") == 1
            found.close()
    finally:
        runner.close()
    assert runner.faults == {"bad": "died"}


ASKING = "def ask_all(function, questions):\n    return [function(list(q), len(q)) for q in questions]\n"


def counted(known: bool, asked: list[list[Any]], heard: list[Any]) -> Callback:
    """A callback that notes what it is asked, with or without what it knows beforehand."""

    def answer(question: list[Any], size: int) -> dict[str, Any]:
        heard.append(question)
        return {"sum": sum(question), "size": size}

    def run(function: Callable[..., Any]) -> None:
        for question in asked:
            function(tuple(question), len(question))

    found = recorded(answer, run) if known else Callback(answer)
    heard.clear()
    return found


NUMBERS = st.lists(st.lists(st.integers(-3, 3), max_size=3), max_size=6)


@settings(max_examples=30, deadline=None)
@given(questions=NUMBERS, expected=NUMBERS)
def test_what_a_callback_knows_changes_nothing_but_the_number_of_trips(
    asking: RemoteSubject, questions: list[list[int]], expected: list[list[int]]
) -> None:
    heard: list[Any] = []
    plainly = asking.call("ask_all", counted(False, expected, heard), questions)
    assert heard == questions
    knowing = asking.call("ask_all", counted(True, expected, heard), questions)
    assert knowing == plainly
    assert heard == [question for question in questions if question not in expected]


@pytest.fixture(scope="module")
def asking(rlimits: Sandbox) -> Iterator[RemoteSubject]:
    """An answer that calls the function it is given."""
    subject = Runner((ProgramCell("asking", ASKING, answer=True),), rlimits, Limits()).start()
    subject.begin(60)
    yield subject
    subject.close()
