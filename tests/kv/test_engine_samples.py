"""n > 1 in the running engine: own continuations, shared prompts, own ends (K09, X03, convention 12)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from inference_kit import LLM, Components, Engine, EngineConfig, SamplingParams
from inference_kit.errors import InvalidField, QueueFull
from tests.cores import CoreFactory
from tests.engine.run import drain
from tests.kv.sampled import SampledRunner, sample_reference


@pytest.mark.parametrize("length", [1, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("cached", [False, True])
def test_each_sample_has_its_own_continuation(make_core: CoreFactory, length: int, cached: bool) -> None:
    core = make_core(runner=SampledRunner, prefix_caching=cached)
    prompt = list(range(1, length + 1))
    live = core.submit(prompt, SamplingParams(n=3, max_tokens=7))
    drain(core)
    outputs = [one.request.output_token_ids for one in live.samples]
    assert outputs == [sample_reference(prompt, 7, index) for index in range(3)]


def test_siblings_compute_the_last_prompt_token_only(make_core: CoreFactory) -> None:
    core = make_core(runner=SampledRunner)
    live = core.submit(list(range(1, 11)), SamplingParams(n=3, max_tokens=4))
    plans = drain(core)
    first_chunks: dict[str, tuple[int, int]] = {}
    for plan in plans:
        for chunk in plan.chunks:
            first_chunks.setdefault(chunk.request_id, (chunk.start, len(chunk.token_ids)))
    assert [first_chunks[one.request.request_id] for one in live.samples] == [(0, 10), (9, 1), (9, 1)]
    assert sum(len(plan.block_copies) for plan in plans) == 2


def test_the_samples_that_have_started_end_on_their_own(make_core: CoreFactory) -> None:
    prompt = [1, 2, 3, 4, 5, 6]
    stop = sample_reference(prompt, 3, 1)[2]
    assert all(stop not in sample_reference(prompt, 9, index) for index in (0, 2))
    core = make_core(runner=SampledRunner)
    live = core.submit(prompt, SamplingParams(n=3, max_tokens=9, stop_token_ids=(stop,)))
    drain(core)
    assert [str(one.request.finish_reason) for one in live.samples] == ["length", "stop_token", "length"]
    assert [one.request.num_output_tokens for one in live.samples] == [9, 3, 9]
    assert core.families == {}


def test_a_parent_whose_own_sample_has_ended_can_still_be_cancelled(make_core: CoreFactory) -> None:
    core = make_core(runner=SampledRunner, max_running=1)
    live = core.submit([1, 2, 3], SamplingParams(n=3, max_tokens=3), request_id="parent")
    while not live.request.is_terminal:
        core.step()
    assert core.cancel("parent")
    core.step()
    assert [str(one.request.state) for one in live.samples] == ["finished", "cancelled", "cancelled"]
    assert core.families == {}


def test_one_sample_can_be_cancelled_by_its_own_name(make_core: CoreFactory) -> None:
    core = make_core(runner=SampledRunner)
    live = core.submit([1, 2, 3], SamplingParams(n=3, max_tokens=5), request_id="parent")
    core.step()
    core.step()
    assert core.cancel("parent#1")
    drain(core)
    assert [str(one.request.state) for one in live.samples] == ["finished", "cancelled", "finished"]
    assert live.samples[2].request.output_token_ids == sample_reference([1, 2, 3], 5, 2)


def test_all_samples_count_against_the_queue(make_core: CoreFactory) -> None:
    core = make_core(max_waiting=4, max_waiting_tokens=20)
    core.submit([1], SamplingParams(n=2))
    with pytest.raises(QueueFull, match="waiting requests"):
        core.submit([1], SamplingParams(n=3))
    with pytest.raises(QueueFull, match="prompt tokens"):
        core.submit([1] * 10, SamplingParams(n=2))
    core.submit([1], SamplingParams(n=2))
    assert core.snapshot()["waiting"] == 4


def test_an_id_stays_taken_while_any_sample_lives(make_core: CoreFactory) -> None:
    core = make_core(max_running=1)
    core.submit([1], SamplingParams(max_tokens=1), request_id="x#1")
    with pytest.raises(InvalidField, match="request_id"):
        core.submit([1], SamplingParams(n=2), request_id="x")
    drain(core)
    live = core.submit([1], SamplingParams(n=2, max_tokens=2), request_id="x")
    while not live.request.is_terminal:
        core.step()
    with pytest.raises(InvalidField, match="request_id"):
        core.submit([1], request_id="x")


@pytest.mark.parametrize("value", [0, 129, True])
def test_n_is_bounded(value: Any) -> None:
    with pytest.raises(InvalidField, match="n="):
        SamplingParams(n=value)


def test_the_output_of_n_samples_is_that_of_sample_0_with_all_of_them() -> None:
    llm = LLM("tiny", dtype="float32", progress=False, num_kv_blocks=64, block_size=4)
    params = SamplingParams(n=3, seed=2**64 - 1, temperature=1.0, max_tokens=8)
    output = llm.generate([1, 2, 3, 4, 5, 6], params)[0]
    assert (output.token_ids, output.text) == (output.samples[0].token_ids, output.samples[0].text)
    # Sample i draws as a single request with seed + i would (convention 12), here past the largest seed.
    for index, seed in enumerate((2**64 - 1, 0, 1)):
        alone = SamplingParams(seed=seed, temperature=1.0, max_tokens=8)
        assert llm.generate([1, 2, 3, 4, 5, 6], alone)[0].token_ids == output.samples[index].token_ids
    assert llm.generate([1, 2], SamplingParams(max_tokens=1))[0].samples == ()


def test_a_stream_carries_every_sample_with_its_index() -> None:
    params = SamplingParams(n=3, max_tokens=6)

    async def main() -> tuple[dict[int, list[int]], list[str | None], list[tuple[int, ...]]]:
        got: dict[int, list[int]] = {0: [], 1: [], 2: []}
        reasons = []
        config = EngineConfig(model="tiny", num_kv_blocks=64)
        async with Engine(config, Components(runner=SampledRunner), progress=False) as engine:
            async for chunk in engine.submit([1, 2, 3, 4, 5], params):
                got[chunk.index] += chunk.token_ids
                reasons.append(chunk.finish_reason)
            result = await engine.submit([1, 2, 3, 4, 5], params).result()
            stream = engine.submit([1, 2, 3], SamplingParams(n=4, max_tokens=500))
            del stream
            while engine.snapshot()["states"]:
                await asyncio.sleep(0)
        return got, reasons, [sample.token_ids for sample in result.samples]

    got, reasons, result = asyncio.run(main())
    wanted = {index: sample_reference([1, 2, 3, 4, 5], 6, index) for index in range(3)}
    assert got == wanted
    assert [list(ids) for ids in result] == list(wanted.values())
    assert [reason for reason in reasons if reason] == ["length"] * 3


def test_a_plain_stream_of_samples_leaves_none_out() -> None:
    llm = LLM("tiny", components=Components(runner=SampledRunner), progress=False, num_kv_blocks=64)
    got: dict[int, list[int]] = {0: [], 1: []}
    for chunk in llm.stream([1, 2, 3], SamplingParams(n=2, max_tokens=5)):
        got[chunk.index] += chunk.token_ids
    assert got == {index: sample_reference([1, 2, 3], 5, index) for index in range(2)}
