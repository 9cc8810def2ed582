"""The transition table and the end that happens once (A1, A2, A10, C1, convention 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit.lifecycle import (
    END_EVENTS,
    TERMINAL_STATES,
    TRANSITIONS,
    Event,
    FinishReason,
    IllegalTransition,
    Request,
    State,
    next_state,
)

PATH = [Event.TOKENIZE, Event.ENQUEUE, Event.ADMIT, Event.START_PREFILL, Event.START_DECODE]


def at_state(steps: int) -> Request:
    request = Request("r")
    for event in PATH[:steps]:
        request.move(event, 0.0)
    return request


def test_every_state_has_a_row_and_terminal_rows_are_empty() -> None:
    assert set(TRANSITIONS) == set(State)
    assert {state for state, moves in TRANSITIONS.items() if not moves} == TERMINAL_STATES


def test_every_state_is_reachable_and_every_live_state_can_end() -> None:
    reached = {State.RECEIVED}
    while True:
        more = {after for state in reached for after in TRANSITIONS[state].values()} | reached
        if more == reached:
            break
        reached = more
    assert reached == set(State)
    for state in set(State) - TERMINAL_STATES:
        assert {Event.CANCEL, Event.TIME_OUT, Event.FAIL} <= set(TRANSITIONS[state])


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("event", list(Event))
def test_an_event_is_legal_or_refused_by_name(state: State, event: Event) -> None:
    if event in TRANSITIONS[state]:
        assert next_state(state, event) is TRANSITIONS[state][event]
    else:
        with pytest.raises(IllegalTransition, match=str(event)) as refused:
            next_state(state, event)
        assert refused.value.legal == [str(name) for name in TRANSITIONS[state]]


def test_the_trace_with_a_preemption_is_legal() -> None:
    # Case L08.
    events = "tokenize enqueue admit start_prefill start_decode pause resume preempt requeue admit"
    events += " start_prefill start_decode pause finish"
    request = Request("r")
    states = [request.move(Event(name), 0.0) for name in events.split()]
    assert states[-1] == "finished"
    assert states[7:10] == ["preempted", "queued", "admitted"]


@given(st.lists(st.sampled_from(list(Event)), max_size=30))
def test_a_refused_event_changes_nothing(events: list[Event]) -> None:
    request = Request("r")
    for event in events:
        before = (request.state, len(request.events))
        try:
            request.move(event, 1.0)
        except IllegalTransition:
            assert (request.state, len(request.events)) == before


@given(st.integers(0, 5), st.lists(st.sampled_from(list(FinishReason)), min_size=1, max_size=6))
def test_the_first_legal_end_wins_and_releases_once(steps: int, reasons: list[FinishReason]) -> None:
    request = at_state(steps)
    released: list[str] = []
    request.hold("kv", lambda: released.append("kv"))
    winner = None
    for reason in reasons:
        legal = END_EVENTS[reason] in TRANSITIONS[request.state]
        if winner is None and not legal:
            with pytest.raises(IllegalTransition):
                request.finalize(reason, 2.0)
            continue
        assert request.finalize(reason, 2.0) is (winner is None)
        winner = winner or reason
    assert request.finish_reason == winner
    assert released == (["kv"] if winner else [])


def test_release_runs_in_reverse_order_and_survives_a_failing_part() -> None:
    request = at_state(5)
    released: list[str] = []

    def broken() -> None:
        raise OSError("socket is gone")

    request.hold("kv", lambda: released.append("kv"))
    request.hold("socket", broken)
    request.hold("stream", lambda: released.append("stream"))
    assert request.finalize("length", 1.0) is True
    assert released == ["stream", "kv"]
    assert [type(error) for error in request.release_errors] == [OSError]


def test_an_end_asked_for_during_the_release_is_a_second_end() -> None:
    request = at_state(5)
    answers: list[bool] = []
    request.hold("kv", lambda: answers.append(request.finalize("client_cancel", 2.0)))
    assert request.finalize("length", 1.0) is True
    assert answers == [False]
    assert request.finish_reason == "length"
