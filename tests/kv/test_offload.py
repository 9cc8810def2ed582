"""Preempted requests keep what they computed in host memory, where there is room for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import LLM, Components, SamplingParams
from inference_kit.errors import IntegrityError, InvalidField
from inference_kit.kv import BlockPool
from inference_kit.kv.offload import HostStore
from inference_kit.lifecycle import Request
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends

SMALL_POOL = {"num_kv_blocks": 8, "block_size": 2, "watermark": 0.0}
"""Holds one whole answer of these tests and a part of another one."""


def two_requests(core: Any, most: int = 10) -> list[Any]:
    return [core.submit([first, 2, 3], SamplingParams(max_tokens=most)) for first in (1, 2)]


def computed_tokens(plans: list[StepPlan]) -> int:
    return sum(plan.num_tokens for plan in plans)


def test_nothing_is_computed_twice_when_host_memory_has_room(make_core: CoreFactory) -> None:
    core = make_core(**SMALL_POOL, offload_blocks=8)
    lives = two_requests(core)
    plans = drain(core)
    assert sum(len(plan.preempted) for plan in plans) >= 1
    assert computed_tokens(plans) == 2 * (3 + 10 - 1)
    assert [ends(live) for live in lives] == [(reference([first, 2, 3], 10), "length") for first in (1, 2)]
    moved = [pair for plan in plans for pair in plan.offloads]
    assert core.kv.host is not None
    assert core.kv.host.num_saved_blocks == core.kv.host.num_loaded_blocks == len(moved) > 0


@pytest.mark.parametrize("host_blocks", [0, 1])
def test_without_room_in_host_memory_it_is_computed_again(make_core: CoreFactory, host_blocks: int) -> None:
    core = make_core(**SMALL_POOL, offload_blocks=host_blocks)
    lives = two_requests(core)
    assert computed_tokens(drain(core)) > 2 * (3 + 10 - 1)
    assert [ends(live)[0] for live in lives] == [reference([first, 2, 3], 10) for first in (1, 2)]


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_host_memory_changes_no_answer(data: Any) -> None:
    block_size = data.draw(st.integers(1, 5))
    core = checksum_core(
        block_size=block_size,
        num_kv_blocks=1 + 16 // block_size,
        watermark=0.0,
        max_step_tokens=data.draw(st.sampled_from([1, 3, 16])),
        prefix_caching=data.draw(st.booleans()),
        policy=data.draw(st.sampled_from(["fcfs", "priority", "skip_blocked"])),
        offload_blocks=data.draw(st.integers(1, 30)),
    )
    lives, wanted = [], []
    for first in data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=5)):
        prompt = [first] * data.draw(st.integers(1, 5))
        n = data.draw(st.sampled_from([1, 1, 2]))
        live = core.submit(prompt, SamplingParams(max_tokens=9, n=n), priority=first)
        lives += live.members
        wanted += [(reference(prompt, 9), "length")] * n
    drain(core)
    assert [ends(live) for live in lives] == wanted
    check_all_given_back(core)


def until_preempted(core: Any) -> Any:
    """Step until somebody waits with contents in host memory; return the request."""
    for _ in range(40):
        core.step()
        for live in core.take_touched():
            live.take()
        for live in core.live.values():
            if live.request.host_blocks:
                return live
    raise AssertionError("nobody was preempted")


def test_a_cancel_in_the_queue_gives_the_host_blocks_back(make_core: CoreFactory) -> None:
    core = make_core(**SMALL_POOL, offload_blocks=8)
    two_requests(core)
    victim = until_preempted(core)
    core.cancel(victim.request.request_id)
    drain(core)
    assert core.kv.host is not None
    assert core.kv.host.num_free == core.kv.host.num_blocks
    assert victim.request.finish_reason == "client_cancel"


def test_a_step_that_fails_while_it_moves_blocks_has_the_victim_computed_again(
    make_core: CoreFactory,
) -> None:
    class FailsAtOffload(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            if plan.offloads:
                raise RuntimeError("host memory is gone")
            return super().run(plan)

    core = make_core(runner=FailsAtOffload, **SMALL_POOL, offload_blocks=8)
    lives = two_requests(core)
    drain(core)
    reasons = sorted(str(live.request.finish_reason) for live in lives)
    assert reasons == ["error", "length"]
    (kept,) = [live for live in lives if live.request.finish_reason == "length"]
    assert kept.request.num_preemptions == 1
    assert kept.request.output_token_ids == reference(list(kept.request.prompt_token_ids), 10)


def test_a_real_model_says_the_same_when_it_is_moved_and_brought_back() -> None:
    prompts = [[65, 66, 67], [70, 71, 72]]
    params = SamplingParams(max_tokens=24, ignore_eos=True)
    small = {"num_kv_blocks": 9, "block_size": 4, "watermark": 0.0, "dtype": "float32", "progress": False}
    roomy = LLM("tiny", dtype="float32", progress=False).generate(prompts, params)
    tight = LLM("tiny", offload_blocks=9, **small).generate(prompts, params)
    assert [output.token_ids for output in tight] == [output.token_ids for output in roomy]
    assert any(line.event == "preempt" for output in tight for line in output.events)


def test_the_integrity_check_sees_a_host_block_that_nobody_holds() -> None:
    store = HostStore(4, 2)
    request = Request("r", (1, 2, 3))
    request.block_table, request.num_computed_tokens = [0, 1], 3
    store.save(request, lambda block_id: block_id)
    store.check_integrity([request.host_blocks])
    with pytest.raises(IntegrityError, match="leak"):
        store.check_integrity([])


def test_a_replaced_runner_and_host_blocks_are_refused_together() -> None:
    with pytest.raises(InvalidField, match="offload_blocks"):
        LLM("tiny", components=Components(runner=ChecksumRunner), offload_blocks=4, progress=False)


@pytest.mark.parametrize("blocks", [-1, 1.5, None, True])
def test_a_bad_number_of_host_blocks_is_named(make_core: CoreFactory, blocks: Any) -> None:
    with pytest.raises(InvalidField, match="offload_blocks"):
        make_core(offload_blocks=blocks)


def test_a_replaced_block_pool_does_not_hold_the_host_blocks(make_core: CoreFactory) -> None:
    made: list[BlockPool] = []

    def make(num_blocks: int, block_size: int) -> BlockPool:
        made.append(BlockPool(num_blocks, block_size))
        return made[-1]

    core = make_core(**SMALL_POOL, offload_blocks=3, components=Components(block_pool=make))
    assert [pool.num_blocks for pool in made] == [8]
    assert core.kv.host is not None
    assert core.kv.host.num_blocks == 3
