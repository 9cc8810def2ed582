"""Policies of admission: the same answers under each, nobody starves, `reserve` preempts nobody (A1)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import Deadlines, EngineConfig, SamplingParams
from inference_kit.engine.core import EngineCore, LiveRequest
from inference_kit.errors import InvalidField
from inference_kit.kv import BlockPool, KVManager
from inference_kit.lifecycle import Event, Request
from inference_kit.scheduler import POLICIES, Scheduler, SchedulerConfig, StepPlan
from tests.checksum import reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends

AGEING_S = 4.0


def admitted_in(plans: list[StepPlan]) -> list[str]:
    return [request_id for plan in plans for request_id in plan.admitted]


def pool_options(data: st.DataObject) -> dict[str, Any]:
    block_size = data.draw(st.integers(1, 4))
    return {
        "block_size": block_size,
        "num_kv_blocks": data.draw(st.integers(-(-24 // block_size), 30)),
        "max_step_tokens": data.draw(st.integers(1, 24)),
        "max_running": data.draw(st.integers(1, 6)),
        "max_prefill_chunk": data.draw(st.none() | st.integers(1, 8)),
        "watermark": data.draw(st.sampled_from([0.0, 0.05, 0.5])),
        "max_passes": data.draw(st.integers(0, 3)),
        "priority_ageing_s": AGEING_S,
    }


def traffic(data: st.DataObject, core: EngineCore) -> tuple[list[LiveRequest], list[StepPlan]]:
    """Submit at random times, run to the end, check each step. The clock moves between steps."""
    live: list[LiveRequest] = []
    plans: list[StepPlan] = []
    wanted = data.draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(1, 12), st.integers(1, 12), st.integers(0, 2)),
            max_size=9,
        )
    )
    while wanted or core.has_work:
        for _, length, count, priority in itertools.takewhile(lambda one: one[0] < 3, list(wanted)):
            wanted.pop(0)
            prompt = [1 + len(live)] * length
            live.append(core.submit(prompt, SamplingParams(max_tokens=count), priority=priority))
        if wanted:
            wanted[0] = (0, *wanted[0][1:])
        plans.append(core.step())
        core.clock.advance(1.0)
        check_step(core, plans[-1])
        for one in live:
            one.take()
        assert len(plans) < 3_000
    return live, plans


def check_step(core: EngineCore, plan: StepPlan) -> None:
    core.check_integrity()
    assert plan.num_tokens <= core.config.max_step_tokens
    assert len(list(core.scheduler.running)) <= core.config.max_running
    assert not (plan.preempted and plan.admitted)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_answers_do_not_depend_on_the_policy(policy: str, data: st.DataObject) -> None:
    core = checksum_core(policy=policy, **pool_options(data))
    live, plans = traffic(data, core)
    for one in live:
        expected = reference(one.request.prompt_token_ids, one.request.max_new_tokens)
        assert ends(one) == (expected, "length")
    if policy == "reserve":
        assert not any(plan.preempted for plan in plans)
    check_all_given_back(core)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_priority_lets_nobody_pass_longer_than_the_ageing_bound(data: st.DataObject) -> None:
    core = checksum_core(policy="priority", **pool_options(data))
    live, _ = traffic(data, core)
    for waiter, other in itertools.permutations([one.request for one in live], 2):
        passed = other.admitted_at < waiter.admitted_at and other.queued_at > waiter.queued_at
        if passed:
            assert other.queued_at - waiter.queued_at < (waiter.priority - other.priority) * AGEING_S


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_blocked_request_is_passed_at_most_max_passes_times(data: st.DataObject) -> None:
    core = checksum_core(policy="skip_blocked", **pool_options(data))
    live, plans = traffic(data, core)
    order = admitted_in(plans)
    for index, one in enumerate(live):
        first = order.index(one.request.request_id)
        later = {other.request.request_id for other in live[index + 1 :]} & set(order[:first])
        assert len(later) <= core.config.max_passes
        assert one.request.times_passed <= core.config.max_passes


@pytest.mark.parametrize("policy", ["fcfs", "reserve"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_first_admissions_are_in_order_of_arrival(policy: str, data: st.DataObject) -> None:
    core = checksum_core(policy=policy, **pool_options(data))
    live, plans = traffic(data, core)
    first = list(dict.fromkeys(admitted_in(plans)))
    assert first == [one.request.request_id for one in live]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_who_comes_back_is_not_preempted_at_once(data: st.DataObject) -> None:
    options = {**pool_options(data), "watermark": 0.0}
    core = checksum_core(**options)
    for length in data.draw(st.lists(st.integers(1, 12), min_size=2, max_size=6)):
        core.submit([1] * length, SamplingParams(max_tokens=12))
    plans = drain(core)
    preempted: set[str] = set()
    for before, after in itertools.pairwise(plans):
        came_back = preempted & set(before.admitted)
        assert not came_back & set(after.preempted)
        preempted |= set(before.preempted)


def test_a_small_priority_goes_first_and_a_wait_makes_up_for_a_large_one(make_core: CoreFactory) -> None:
    core = make_core(policy="priority", priority_ageing_s=2.0, max_running=1)
    params = SamplingParams(max_tokens=2)
    core.submit([1], params, priority=1, request_id="late")
    core.clock.advance(1.0)
    core.submit([1], params, priority=0, request_id="first")
    core.clock.advance(1.5)
    core.submit([1], params, priority=0, request_id="too late to pass")
    assert admitted_in(drain(core)) == ["first", "late", "too late to pass"]


def test_a_request_that_does_not_fit_is_passed_only_so_often(make_core: CoreFactory) -> None:
    core = make_core(policy="skip_blocked", max_passes=2, num_kv_blocks=8, block_size=4, watermark=0.0)
    core.submit([1] * 13, SamplingParams(max_tokens=15), request_id="runs")
    core.step()
    core.submit([1] * 25, SamplingParams(max_tokens=2), request_id="large")
    for name in "abc":
        core.submit([1], SamplingParams(max_tokens=2), request_id=name)
    assert core.step().admitted == ("a", "b")
    assert admitted_in(drain(core)) == ["large", "c"]


def test_reserve_admits_what_fits_to_its_very_end(make_core: CoreFactory) -> None:
    core = make_core(policy="reserve", num_kv_blocks=8, block_size=4, watermark=0.5)
    # 13 + 4 - 1 = 16 slots are four blocks, so two requests fill the pool and the third waits.
    for name in "abc":
        core.submit([1] * 13, SamplingParams(max_tokens=4), request_id=name)
    assert core.step().admitted == ("a", "b")
    plans = drain(core)
    assert admitted_in(plans) == ["c"]
    assert not any(plan.preempted for plan in plans)


def test_a_request_whose_deadline_has_passed_is_never_admitted() -> None:
    # The scheduler alone, without the engine's boundary.
    scheduler = Scheduler(SchedulerConfig(), KVManager(BlockPool(8, 4)))
    for request_id, limit in (("late", 1.0), ("good", 2.0)):
        request = Request(request_id, [1, 2], deadlines=Deadlines(queue_s=limit))
        request.move(Event.TOKENIZE, 0.0)
        scheduler.add(request, 0.0)
    assert scheduler.schedule(1.0).admitted == ("good",)
    assert [request.request_id for request in scheduler.waiting] == ["late"]


def test_an_unknown_policy_is_refused_by_name() -> None:
    with pytest.raises(InvalidField, match=r"policy='lifo'.*fcfs, priority, skip_blocked, reserve"):
        EngineConfig(policy="lifo")
    with pytest.raises(InvalidField, match="policy"):
        Scheduler(SchedulerConfig(policy="lifo"), KVManager(BlockPool(8, 4)))


@pytest.mark.parametrize(
    ("field", "value"), [("priority_ageing_s", 0.0), ("priority_ageing_s", float("nan")), ("max_passes", -1)]
)
def test_ageing_bounds_are_checked(field: str, value: float) -> None:
    with pytest.raises(InvalidField, match=field):
        EngineConfig(**{field: value})
