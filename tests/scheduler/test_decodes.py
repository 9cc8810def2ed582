"""The columns of decodes: nobody can tell them from looking at every request at every step (W5)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import Components, Deadlines, SamplingParams
from inference_kit.engine.core import EngineCore, LiveRequest
from inference_kit.engine.marks import STOP_ID, TokenMarks
from inference_kit.engine.timers import Timers
from inference_kit.engine.vocabulary import Vocabulary
from inference_kit.lifecycle import LoggedEvent, State, first_expired
from inference_kit.scheduler import StepOutput, StepPlan
from inference_kit.telemetry import EventLog, TokenLines
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends

LETTERS = "abc你é"


class Letters:
    """One letter for each id, some of them cut in two; id 60 is hidden."""

    def token_bytes(self, token_id: int) -> bytes:
        if token_id % 7 == 0:
            return "你".encode()[: 1 + token_id % 2]
        return LETTERS[token_id % len(LETTERS)].encode()

    def is_special(self, token_id: int) -> bool:
        return token_id == 60


def looking_at_all() -> Components:
    """The kit's own rules, as a replaced part: the engine then looks at every request at every step."""
    return Components(endings=partial(first_expired))


def submits(data: st.DataObject) -> list[dict[str, Any]]:
    limit = st.none() | st.sampled_from([2.0, 5.0, 20.0])
    return [
        {
            "prompt_token_ids": data.draw(st.lists(st.integers(1, 63), min_size=1, max_size=9)),
            "params": SamplingParams(
                max_tokens=data.draw(st.integers(1, 14)),
                seed=0,
                stop=data.draw(st.sampled_from([(), (), ("ab",), ("你", "ca"), ("bb",)])),
                stop_token_ids=data.draw(st.sampled_from([(), (), (12, 13)])),
                include_stop=data.draw(st.booleans()),
                min_tokens=data.draw(st.sampled_from([0, 0, 1])),
            ),
            "deadlines": Deadlines(
                queue_s=data.draw(limit),
                ttft_s=data.draw(limit),
                inter_token_s=data.draw(limit),
                overall_s=data.draw(limit),
            ),
            "priority": data.draw(st.integers(0, 1)),
        }
        for _ in range(data.draw(st.integers(1, 5)))
    ]


def happened(core: EngineCore, requests: list[LiveRequest]) -> dict[str, Any]:
    """Everything that a caller can see of a core and its requests."""
    by_time = [(line.timestamp, line.request_id, line.event, line.state) for line in core.events.events()]
    return {
        "events": [live.request.events for live in requests],
        "log": sorted(by_time),
        "ids": [live.request.token_ids for live in requests],
        "text": [(live.text.text, live.request.stop_reason) for live in requests],
        "sent": [(live.channel.sent, live.channel.unsent, live.channel.paused) for live in requests],
        "times": [(live.request.first_token_at, live.request.last_token_at) for live in requests],
        "snapshot": core.snapshot(),
    }


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_columns_change_nothing_that_a_caller_sees(data: st.DataObject) -> None:
    options = {
        "block_size": data.draw(st.integers(1, 4)),
        "num_kv_blocks": data.draw(st.integers(24, 40)),
        "max_step_tokens": data.draw(st.integers(1, 20)),
        "max_running": data.draw(st.integers(1, 5)),
        "channel_high": data.draw(st.integers(1, 6)),
        "channel_low": 0,
        "slow_consumer_s": data.draw(st.sampled_from([None, 3.0])),
    }
    cores = [
        checksum_core(tokenizer=Letters(), components=parts, **options) for parts in (None, looking_at_all())
    ]
    wanted = submits(data)
    live: list[list[LiveRequest]] = [[], []]
    for step in range(100):
        if step < len(wanted):
            for core, requests in zip(cores, live, strict=True):
                requests.append(core.submit(**wanted[step], request_id=f"r{step}"))
        advance = data.draw(st.sampled_from([0.0, 0.0, 0.25, 1.0]))
        cancelled = data.draw(st.sampled_from([None] * 12 + [f"r{step % 5}"]))
        taker = data.draw(st.integers(0, 4))
        amount = data.draw(st.sampled_from([None, 1]))
        taken = []
        for core, requests in zip(cores, live, strict=True):
            core.clock.advance(advance)
            if cancelled is not None:
                core.cancel(cancelled)
            core.step()
            core.check_integrity()
            touched = {one.request.request_id for one in core.take_touched()}
            chunk = requests[taker].take(amount) if taker < len(requests) else None
            taken.append((touched, chunk))
        assert taken[0] == taken[1]
        # To look at everything is to deliver everything, so it must not happen at every step.
        if step % 7 == 6:
            assert happened(cores[0], live[0]) == happened(cores[1], live[1])
        if step >= len(wanted) and not cores[0].has_work:
            break
        for one in live[0]:
            assert one.channel.unsent <= options["channel_high"] + 1
    assert happened(cores[0], live[0]) == happened(cores[1], live[1])
    plans = [[tuple(plan.chunks) for plan in core.runner.plans] for core in cores]
    assert [sorted(map(repr, chunks)) for chunks in plans[0]] == [sorted(map(repr, c)) for c in plans[1]]
    for core in cores:
        check_all_given_back(core)


def test_chunks_read_after_later_steps_are_those_of_their_plan(make_core: CoreFactory) -> None:
    class Blind(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            return StepOutput(dict.fromkeys(plan.request_ids, 5))

    core = make_core(runner=Blind, block_size=2)
    core.submit([1, 2], SamplingParams(max_tokens=9), request_id="a")
    plans = drain(core)
    assert [chunk.start for plan in plans for chunk in plan.chunks] == [0, *range(2, 10)]
    assert [len(plan.chunks[0].block_table) for plan in plans] == [1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [plan.chunks[0].num_generated for plan in plans] == list(range(9))


def test_who_leaves_between_plan_and_commit_gets_no_token(make_core: CoreFactory) -> None:
    core = make_core()
    live = [core.submit([token], SamplingParams(max_tokens=9)) for token in (1, 2, 3)]
    core.step()
    core.step()
    plan = core.scheduler.schedule(core.boundary())
    core.cancel(live[0].request.request_id)
    core.commit(plan, core.run(plan))
    assert [one.request.num_output_tokens for one in live] == [2, 3, 3]
    drain(core)
    assert ends(live[1]) == (reference([2], 9), "length")
    assert ends(live[2]) == (reference([3], 9), "length")


def test_a_cancelled_request_still_delivers_what_it_committed(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], SamplingParams(max_tokens=9))
    for _ in range(4):
        core.step()
    core.cancel(live.request.request_id)
    core.step()
    chunk = live.take()
    assert chunk is not None
    assert (list(chunk.token_ids), chunk.finish_reason) == (reference([1], 4), "client_cancel")


def test_a_reader_of_the_middle_of_a_step_sees_no_half_token(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], SamplingParams(max_tokens=9))
    core.step()
    core.step()
    plan = core.scheduler.schedule(core.boundary())
    chunk = live.take()
    assert chunk is not None
    assert list(chunk.token_ids) == reference([1], 2)
    core.commit(plan, core.run(plan))
    assert live.channel.unsent == 1


@pytest.mark.parametrize("ids", [[1.5, 2.0], [None, None], [2**70, 1], []])
def test_odd_ids_are_all_looked_at(ids: list[Any]) -> None:
    marks = TokenMarks(Vocabulary(64, 64, frozenset({0})))
    assert list(marks.of(ids)) == [-1] * len(ids)


def test_ids_outside_the_vocabulary_are_looked_at() -> None:
    marks = TokenMarks(Vocabulary(64, 64, frozenset({0})))
    assert [bool(mark & STOP_ID) for mark in marks.of([0, 1, 63, 64, -1, 10**12])] == [1, 0, 0, 1, 1, 1]


def test_a_new_stop_string_marks_tokens_that_were_quiet_before() -> None:
    marks = TokenMarks(Vocabulary(64, 64, frozenset(), Letters()))
    looks = marks.add(SamplingParams(stop=("a",)))
    assert marks.is_whole(1)
    assert not marks.of([1])[0] & looks
    marks.add(SamplingParams(stop=("b",)))
    assert marks.of([1])[0] & looks


def test_timers_report_each_key_once_and_never_late() -> None:
    timers = Timers()
    timers.arm("a", 5.0)
    timers.arm("a", 3.0)
    timers.arm("a", 9.0)
    timers.arm("b", 4.0)
    assert timers.pop_due(2.9) == []
    assert timers.pop_due(4.0) == ["a", "b"]
    assert timers.pop_due(99.0) == []


def test_timers_of_ended_requests_do_not_pile_up() -> None:
    timers = Timers()
    for index in range(10_000):
        timers.arm(str(index), 3600.0)
        timers.drop(str(index))
    assert len(timers._heap) <= 66


@pytest.mark.parametrize("capacity", [1, 3, 4, 7])
def test_the_event_log_keeps_the_newest_lines_also_of_whole_steps(capacity: int) -> None:
    bounded, whole = EventLog(capacity), EventLog()
    for log in (bounded, whole):
        log.append(LoggedEvent("receive", 0.0, "a", "received"))
        for at in (1.0, 2.0):
            log.append_tokens(TokenLines(("a", "b", "c"), (1, 2, 3), at, str(State.DECODE)))
    assert bounded.events() == whole.events()[-capacity:]
    assert [line.data for line in whole.events("b")] == [{"token_id": 2}] * 2


def test_a_listener_hears_every_token(make_core: CoreFactory) -> None:
    core = make_core()
    heard: list[LoggedEvent] = []
    core.events.subscribe(heard.append)
    live = core.submit([1], SamplingParams(max_tokens=6))
    drain(core)
    assert heard == live.request.events
    assert sum(line.event == "token" for line in heard) == core.metrics.committed_tokens == 6
