"""The output must not depend on scheduling (D12), and the plans must keep the conventions 8–10."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import Deadlines, SamplingParams
from inference_kit.errors import QueueFull, RequestRefused
from inference_kit.scheduler import StepPlan
from tests.checksum import reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends

PROMPTS = {
    "p1": ([1, 2, 3], 12, [27, 35, 24, 56, 61, 12, 47, 20, 58, 58, 14, 33]),
    "p2": ([5] * 8, 8, [61, 36, 8, 60, 58, 13, 25, 61]),
    "p3": ([7, 1, 4, 9, 9], 10, [27, 27, 58, 12, 47, 20, 58, 56, 4, 60]),
    "p4": (list(range(1, 18)), 6, [45, 4, 17, 57, 30, 9]),
}
ORDERS = list(itertools.permutations(PROMPTS))


def test_the_reference_gives_the_outputs_of_the_specification() -> None:
    for prompt, count, output in PROMPTS.values():
        assert reference(prompt, count) == output


@pytest.mark.parametrize("block_size", [1, 2, 4, 16])
@pytest.mark.parametrize("roomy", [True, False])
@pytest.mark.parametrize("budget", [1, 3, 8, 64])
def test_output_is_the_same_under_every_pool_budget_and_order(
    make_core: CoreFactory, block_size: int, roomy: bool, budget: int
) -> None:
    tightest = -(-22 // block_size)
    core = make_core(
        block_size=block_size, num_kv_blocks=64 if roomy else tightest, max_step_tokens=budget, watermark=0.0
    )
    for order in ORDERS:
        live = {
            name: core.submit(PROMPTS[name][0], SamplingParams(max_tokens=PROMPTS[name][1])) for name in order
        }
        drain(core)
        for name, one in live.items():
            assert ends(one) == (PROMPTS[name][2], "length")


@pytest.mark.parametrize("cancel_after", range(0, 40, 3))
def test_a_cancel_changes_no_other_output(make_core: CoreFactory, cancel_after: int) -> None:
    core = make_core(num_kv_blocks=8, max_step_tokens=6)
    live = {
        name: core.submit(prompt, SamplingParams(max_tokens=n)) for name, (prompt, n, _) in PROMPTS.items()
    }
    extra = core.submit([9] * 10, SamplingParams(max_tokens=20))
    for step in itertools.count():
        if step == cancel_after:
            core.cancel(extra.request.request_id)
        if not core.has_work:
            break
        core.step()
    for name, one in live.items():
        assert ends(one) == (PROMPTS[name][2], "length")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_random_traffic_keeps_every_promise(data: st.DataObject) -> None:
    block_size = data.draw(st.integers(1, 5))
    num_blocks = data.draw(st.integers(-(-24 // block_size), 40))
    options = {
        "block_size": block_size,
        "num_kv_blocks": num_blocks,
        "max_step_tokens": data.draw(st.integers(1, 20)),
        "max_running": data.draw(st.integers(1, 6)),
        "max_prefill_chunk": data.draw(st.none() | st.integers(1, 8)),
        "watermark": data.draw(st.sampled_from([0.0, 0.05, 0.5])),
        "channel_high": data.draw(st.integers(1, 5)),
        "channel_low": 0,
        "slow_consumer_s": None,
    }
    core = checksum_core(**options)
    requests = []
    for _ in range(data.draw(st.integers(1, 7))):
        prompt = data.draw(st.lists(st.integers(1, 63), min_size=1, max_size=12))
        count = data.draw(st.integers(1, 10))
        requests.append((prompt, count, core.submit(prompt, SamplingParams(max_tokens=count))))
        for _ in range(data.draw(st.integers(0, 3))):
            core.step()
    bound = core.config.channel_high + 1
    steps = 0
    while core.has_work:
        plan = core.step()
        steps += 1
        assert steps < 5_000
        assert plan.num_tokens <= core.config.max_step_tokens
        assert not (plan.preempted and plan.admitted)
        core.check_integrity()
        for live in list(core.live.values()):
            assert live.channel.unsent <= bound
        if steps % data.draw(st.integers(1, 3)) == 0:
            for _, _, live in requests:
                live.take()
    for prompt, count, live in requests:
        assert ends(live) == (reference(prompt, count), "length")
        assert sum(entry.event == "finish" for entry in live.request.events) == 1
    check_all_given_back(core)


def test_prompt_that_fits_but_whose_answer_does_not_ends_with_length(make_core: CoreFactory) -> None:
    # Case D02: 64 slots, prompt 60: the fifth token writes no KV.
    core = make_core(block_size=16, num_kv_blocks=4, context=2048)
    live = core.submit([3] * 60, SamplingParams(max_tokens=100))
    drain(core)
    assert (live.request.num_output_tokens, live.request.finish_reason) == (5, "length")
    assert live.request.num_preemptions == 0


@pytest.mark.parametrize(("length", "max_tokens"), [(65, None), (64, None)])
def test_prompt_that_can_never_fit_is_refused_at_submit(
    make_core: CoreFactory, length: int, max_tokens: int | None
) -> None:
    core = make_core(block_size=16, num_kv_blocks=4, context=64)
    with pytest.raises(RequestRefused, match="prompt="):
        core.submit([3] * length, SamplingParams(max_tokens=max_tokens))
    assert core.snapshot()["rejected"] == 1
    assert core.snapshot()["received"] == 0


def test_max_tokens_beyond_the_context_is_refused_not_cut(make_core: CoreFactory) -> None:
    core = make_core(context=16)
    with pytest.raises(RequestRefused, match="max_tokens=7"):
        core.submit([3] * 10, SamplingParams(max_tokens=7))
    live = core.submit([3] * 10)
    drain(core)
    assert live.request.num_output_tokens == 6


def test_full_queue_refuses_and_counts_only_waiters(make_core: CoreFactory) -> None:
    core = make_core(max_running=1, max_waiting=2)
    params = SamplingParams(max_tokens=3)
    core.submit([1], params, request_id="r1")
    core.step()
    core.submit([1], params, request_id="r2")
    core.submit([1], params, request_id="r3")
    with pytest.raises(QueueFull) as refused:
        core.submit([1], params, request_id="r4")
    assert refused.value.retry_after_s > 0
    drain(core)
    core.submit([1], params, request_id="r5")
    assert core.snapshot()["received"] == 4


def test_queue_bound_in_prompt_tokens(make_core: CoreFactory) -> None:
    core = make_core(max_waiting_tokens=10)
    core.submit([1] * 6)
    with pytest.raises(QueueFull, match="prompt tokens"):
        core.submit([1] * 5)


def test_two_prefills_share_a_budget_that_does_not_divide_evenly(make_core: CoreFactory) -> None:
    # Case D05.
    core = make_core(max_step_tokens=8)
    params = SamplingParams(max_tokens=50)
    core.submit([1], params, request_id="A")
    core.submit([2], params, request_id="B")
    core.step()
    core.submit([3] * 10, params, request_id="P1")
    core.submit([4] * 3, params, request_id="P2")
    shares = [{chunk.request_id: len(chunk.token_ids) for chunk in core.step().chunks} for _ in range(4)]
    assert shares == [
        {"A": 1, "B": 1, "P1": 6},
        {"A": 1, "B": 1, "P1": 4, "P2": 2},
        {"A": 1, "B": 1, "P1": 1, "P2": 1},
        {"A": 1, "B": 1, "P1": 1, "P2": 1},
    ]


@pytest.mark.parametrize(("length", "shares"), [(16, [8, 8, 1]), (8, [8, 1]), (1, [1, 1]), (9, [8, 1, 1])])
def test_no_chunk_is_empty(make_core: CoreFactory, length: int, shares: list[int]) -> None:
    # Case D06.
    core = make_core(max_step_tokens=8)
    core.submit([1] * length, SamplingParams(max_tokens=9))
    assert [core.step().num_tokens for _ in shares] == shares


def test_a_budget_below_the_number_of_decodes_starves_nobody(make_core: CoreFactory) -> None:
    # Three requests pause one after the other, then all may go on at once with a budget of one.
    core = make_core(max_step_tokens=1, channel_high=2, channel_low=0)
    live = [core.submit([token], SamplingParams(max_tokens=40)) for token in (1, 2, 3)]
    while not all(one.channel.paused for one in live):
        core.step()
    for _ in range(12):
        for one in live:
            one.take()
        core.step()
    assert [one.request.num_output_tokens for one in live] == [6, 6, 6]


def test_the_victim_is_the_latest_arrival_and_keeps_its_order(make_core: CoreFactory) -> None:
    core = make_core(block_size=2, num_kv_blocks=8, max_step_tokens=64, watermark=0.0)
    params = SamplingParams(max_tokens=8)
    first = core.submit([1, 2, 3, 4], params)
    second = core.submit([5, 6, 7, 8], params)
    third = core.submit([9, 9, 9, 9], params)
    plans = drain(core)
    order = [request_id for plan in plans for request_id in plan.preempted]
    assert order
    assert first.request.request_id not in order
    assert order[0] == third.request.request_id
    for one, prompt in ((first, [1, 2, 3, 4]), (second, [5, 6, 7, 8]), (third, [9] * 4)):
        assert ends(one) == (reference(prompt, 8), "length")


def test_a_priority_decides_the_victim(make_core: CoreFactory) -> None:
    core = make_core(block_size=2, num_kv_blocks=6, max_step_tokens=64, watermark=0.0)
    params = SamplingParams(max_tokens=8)
    low = core.submit([1, 2, 3, 4], params, priority=5)
    high = core.submit([5, 6, 7, 8], params, priority=0)
    drain(core)
    assert low.request.num_preemptions >= 1
    assert high.request.num_preemptions == 0


def test_resumed_request_neither_loses_nor_repeats_a_token(make_core: CoreFactory) -> None:
    # Case D11.
    core = make_core(block_size=4, num_kv_blocks=4, watermark=0.0)
    params = SamplingParams(max_tokens=9)
    one = core.submit([11, 12, 13], params)
    two = core.submit([14, 15, 16], params)
    seen: list[int] = []
    while core.has_work:
        core.step()
        chunk = two.take()
        seen.extend(chunk.token_ids if chunk else ())
        one.take()
    assert two.request.num_preemptions >= 1
    assert seen == reference([14, 15, 16], 9)


def test_queue_deadline_ends_before_any_forward_pass(make_core: CoreFactory) -> None:
    core = make_core(max_running=1)
    core.submit([1], SamplingParams(max_tokens=50))
    core.step()
    late = core.submit([2], deadlines=Deadlines(queue_s=1.0))
    core.clock.advance(1.0)
    core.step()
    assert late.request.finish_reason == "queue_deadline"
    assert late.request.finished_at == 1.0
    assert all(
        chunk.request_id != late.request.request_id for plan in core.runner.plans for chunk in plan.chunks
    )


def test_a_step_that_computes_nothing_still_copies_blocks(make_core: CoreFactory) -> None:
    core = make_core(block_size=2)
    core.runner.slots[0:2] = [7, 8]
    core.run(StepPlan(step=1, chunks=(), block_copies=((0, 3),)))
    assert core.runner.slots[6:8] == [7, 8]
