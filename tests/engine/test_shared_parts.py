"""A cache or a pool that raises for one request: it fails alone, wherever in the step that happens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import Components, SamplingParams
from inference_kit.errors import QueueFull, RequestRefused
from inference_kit.kv import BlockPool, PrefixCache
from inference_kit.lifecycle import Event, State, TableLifecycle
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends

BAD = 63
"""Requests whose prompt begins with this token are the ones that the faulty parts do not like."""


class Broken(Exception):
    """What the faulty parts of these tests raise."""


class NoPublish(PrefixCache):
    def publish(self, token_ids: Any, *rest: Any, **more: Any) -> None:
        if token_ids[0] == BAD:
            raise Broken("publish")
        super().publish(token_ids, *rest, **more)


class NoMatch(PrefixCache):
    def match(self, token_ids: Any, *rest: Any, **more: Any) -> list[int]:
        if token_ids[0] == BAD:
            raise Broken("match")
        return super().match(token_ids, *rest, **more)


class MatchesNonsense(PrefixCache):
    def match(self, token_ids: Any, *rest: Any, **more: Any) -> list[int]:
        return [10_000] if token_ids[0] == BAD else super().match(token_ids, *rest, **more)


class NoPreemption(TableLifecycle):
    """Refuses that the bad one is ever admitted, or comes back after a preemption."""

    def next_state(self, state: State, event: Event) -> State:
        if event is Event.REQUEUE:
            raise Broken("no way back")
        return super().next_state(state, event)


@pytest.mark.parametrize("cache", [NoPublish, NoMatch, MatchesNonsense])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_cache_that_raises_for_one_request_fails_that_one_alone(cache: type[Any], data: Any) -> None:
    core = checksum_core(
        components=Components(prefix_cache=cache),
        prefix_caching=True,
        block_size=data.draw(st.integers(1, 4)),
        num_kv_blocks=data.draw(st.sampled_from([14, 20, 64])),
        max_step_tokens=data.draw(st.sampled_from([2, 7, 64])),
    )
    firsts = data.draw(st.lists(st.sampled_from([1, 2, BAD]), min_size=2, max_size=5))
    lives = [core.submit([first, 5, 6, 7, 8], SamplingParams(max_tokens=8)) for first in firsts]
    drain(core)
    for first, live in zip(firsts, lives, strict=True):
        if first == BAD:
            assert (str(live.request.finish_reason), live.request.num_output_tokens < 8) == ("error", True)
            assert live.request.error is not None
        else:
            assert ends(live) == (reference([first, 5, 6, 7, 8], 8), "length")
    check_all_given_back(core)


def test_a_fault_of_the_cache_at_the_end_is_kept_and_leaks_nothing(make_core: CoreFactory) -> None:
    core = make_core(components=Components(prefix_cache=NoPublish), prefix_caching=True, block_size=4)
    # The fourth slot is filled by the last step, so the only block is offered when the request ends.
    live = core.submit([BAD, 2], SamplingParams(max_tokens=3))
    drain(core)
    assert str(live.request.finish_reason) == "length"
    assert [str(error) for error in live.request.release_errors] == ["publish"]


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
def test_a_pool_that_raises_while_a_decode_grows_fails_that_request_alone(
    make_core: CoreFactory, at_once: bool
) -> None:
    class Tired(BlockPool):
        calls = 0

        def allocate(self, n: int) -> list[int]:
            type(self).calls += 1
            # Calls 1 and 2 admit, 3 grows both at once, 4 and 5 grow them one by one.
            if type(self).calls in ((3, 4) if at_once else (3,)):
                raise Broken("allocate")
            return super().allocate(n)

    core = make_core(components=Components(block_pool=Tired), block_size=4)
    lives = [core.submit([first, 2, 3], SamplingParams(max_tokens=6)) for first in (1, 2)]
    drain(core)
    reasons = [str(live.request.finish_reason) for live in lives]
    assert reasons == (["error", "length"] if at_once else ["length", "length"])
    assert lives[1].request.output_token_ids == reference([2, 2, 3], 6)


def test_a_lifecycle_that_refuses_the_way_back_fails_the_victim_alone(make_core: CoreFactory) -> None:
    core = make_core(
        components=Components(lifecycle=NoPreemption()), num_kv_blocks=5, block_size=2, watermark=0.0
    )
    lives = [core.submit([first, 2, 3], SamplingParams(max_tokens=7)) for first in (1, 2)]
    drain(core)
    assert ends(lives[0]) == (reference([1, 2, 3], 7), "length")
    assert (str(lives[1].request.finish_reason), str(lives[1].request.error)) == ("error", "no way back")


def test_a_failing_step_fails_also_those_that_were_only_admitted_in_it(make_core: CoreFactory) -> None:
    class FailsAtCopies(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            if plan.block_copies:
                raise Broken("the copy is lost")
            return super().run(plan)

    # A request without credit is admitted and has nothing to compute yet; its copies are in the plan.
    core = make_core(runner=FailsAtCopies)
    victim, other = (core.submit([1, 2], SamplingParams(max_tokens=4)) for _ in range(2))
    plan = StepPlan(step=1, chunks=(), admitted=(victim.request.request_id,), block_copies=((0, 1),))
    core.commit(plan, core.run(plan))
    drain(core)
    assert ends(victim) == ([], "error")
    assert ends(other) == (reference([1, 2], 4), "length")


def test_what_the_queue_can_never_hold_is_refused_and_what_it_cannot_hold_now_is_full(
    make_core: CoreFactory,
) -> None:
    core = make_core(max_waiting=3, max_waiting_tokens=12)
    with pytest.raises(RequestRefused, match="n=4 is not allowed; allowed: at most 3"):
        core.submit([1], SamplingParams(n=4))
    with pytest.raises(RequestRefused, match="5 tokens for each of 3 samples"):
        core.submit([1] * 5, SamplingParams(n=3))
    with pytest.raises(RequestRefused, match="13 tokens"):
        core.submit([1] * 13)
    core.submit([1])
    with pytest.raises(QueueFull):
        core.submit([1], SamplingParams(n=3))
    with pytest.raises(QueueFull):
        core.submit([1] * 12)
    assert core.snapshot()["rejected"] == 5
