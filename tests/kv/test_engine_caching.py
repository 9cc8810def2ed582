"""The prefix cache in the running engine changes what is computed and never what comes out (P07, A3, A9)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import LLM, SamplingParams
from inference_kit.engine.components import Components
from inference_kit.errors import InvalidField
from inference_kit.kv import BlockPool, PlainPrefixCache, PrefixCache
from tests.checksum import reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain
from tests.kv.sampled import SampledRunner, sample_reference


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_the_cache_changes_no_output(data: st.DataObject) -> None:
    block_size = data.draw(st.integers(1, 5))
    shared = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=9))
    traffic = []
    for _ in range(data.draw(st.integers(1, 6))):
        prompt = shared[: data.draw(st.integers(0, 9))] + data.draw(st.lists(st.integers(1, 3), max_size=3))
        params = SamplingParams(max_tokens=data.draw(st.integers(1, 8)), n=data.draw(st.integers(1, 3)))
        salt, steps, cancels = (
            data.draw(st.sampled_from(["", "", "b"])),
            data.draw(st.integers(0, 4)),
            data.draw(st.integers(0, 4)) == 0,
        )
        traffic.append((prompt or [1], params, salt, steps, cancels))
    options = {
        "runner": SampledRunner,
        "block_size": block_size,
        "num_kv_blocks": data.draw(st.integers(-(-20 // block_size), 30)),
        "max_step_tokens": data.draw(st.integers(1, 20)),
        "max_running": data.draw(st.integers(1, 6)),
        "watermark": data.draw(st.sampled_from([0.0, 0.3])),
    }
    for caching in ({"prefix_caching": False}, {"prefix_caching": True}):
        serve(traffic, {**options, **caching})


def serve(traffic: list[Any], options: dict[str, Any]) -> None:
    core = checksum_core(**options)
    served = []
    for prompt, params, salt, steps, cancels in traffic:
        live = core.submit(prompt, params, cache_salt=salt)
        served.append((prompt, params, cancels, live))
        for _ in range(steps):
            core.step()
            core.check_integrity()
        if cancels:
            core.cancel(live.caller_id)
    steps = 0
    while core.has_work:
        core.step()
        core.check_integrity()
        steps += 1
        assert steps < 2_000
    for prompt, params, cancels, live in served:
        for index, one in enumerate(live.members):
            output = one.request.output_token_ids
            wanted = sample_reference(prompt, params.max_tokens, index)
            assert output == (wanted[: len(output)] if cancels else wanted)
    assert core.families == {}
    check_all_given_back(core)


@pytest.mark.parametrize("length", range(1, 14))
def test_cached_tokens_follow_the_convention(make_core: CoreFactory, length: int) -> None:
    core = make_core(prefix_caching=True)
    prompt = list(range(1, length + 1))
    for cached in (0, (length - 1) // 4 * 4):
        live = core.submit(prompt, SamplingParams(max_tokens=3))
        drain(core)
        assert live.request.num_cached_tokens == cached
        assert live.request.output_token_ids == reference(prompt, 3)


def test_the_next_turn_of_a_conversation_finds_the_generated_tokens(make_core: CoreFactory) -> None:
    core = make_core(prefix_caching=True)
    first = core.submit([1, 2, 3], SamplingParams(max_tokens=10))
    drain(core)
    second_prompt = [*first.request.token_ids, 9, 9]
    second = core.submit(second_prompt, SamplingParams(max_tokens=5))
    drain(core)
    # 13 known tokens, the last never computed: 12 in whole blocks.
    assert second.request.num_cached_tokens == 12
    assert second.request.output_token_ids == reference(second_prompt, 5)


def test_tenants_do_not_share(make_core: CoreFactory) -> None:
    core = make_core(prefix_caching=True)
    cached = []
    for salt in ("a", "b", "a"):
        live = core.submit([1] * 9, SamplingParams(max_tokens=1), cache_salt=salt)
        drain(core)
        cached.append(live.request.num_cached_tokens)
    assert cached == [0, 0, 8]
    with pytest.raises(InvalidField, match="cache_salt"):
        core.submit([1], cache_salt=7)  # type: ignore[arg-type]


def test_what_a_cancelled_request_computed_stays_for_others(make_core: CoreFactory) -> None:
    core = make_core(prefix_caching=True, max_step_tokens=4)
    first = core.submit(list(range(1, 18)))
    for _ in range(3):
        core.step()
    core.cancel(first.request.request_id)
    core.step()
    assert core.snapshot()["kv_blocks_free"] == 64
    second = core.submit(list(range(1, 18)), SamplingParams(max_tokens=6))
    drain(core)
    assert second.request.num_cached_tokens == 12
    assert second.request.output_token_ids == reference(list(range(1, 18)), 6)


def test_a_step_that_fails_publishes_nothing(make_core: CoreFactory) -> None:
    core = make_core(prefix_caching=True)
    run = core.runner.run

    def fail(plan: Any) -> Any:
        run(plan)
        raise RuntimeError("the step failed")

    core.runner.run = fail  # type: ignore[method-assign]
    core.submit([1] * 9)
    core.step()
    core.runner.run = run  # type: ignore[method-assign]
    again = core.submit([1] * 9, SamplingParams(max_tokens=3))
    drain(core)
    assert again.request.num_cached_tokens == 0
    assert again.request.output_token_ids == reference([1] * 9, 3)


def test_a_resumed_request_finds_its_own_blocks_and_counts_no_hits(make_core: CoreFactory) -> None:
    core = make_core(prefix_caching=True, block_size=2, num_kv_blocks=8, watermark=0.0)
    live = [core.submit([token] * 4, SamplingParams(max_tokens=8)) for token in (1, 2, 3)]
    drain(core)
    assert sum(one.request.num_preemptions for one in live) > 0
    assert [one.request.num_cached_tokens for one in live] == [0, 0, 0]
    assert [one.request.output_token_ids for one in live] == [
        reference([token] * 4, 8) for token in (1, 2, 3)
    ]


class WrongCache(PrefixCache):
    """Offers any block for any prompt: a fault that the engine must not hide."""

    def match(self, token_ids: Any, max_blocks: int, salt: str = "") -> list[int]:
        return list(self._key_of)[:max_blocks]


@pytest.mark.parametrize(
    ("cache", "right"), [(PrefixCache, True), (PlainPrefixCache, True), (WrongCache, False)]
)
def test_the_slot_for_a_prefix_cache_is_really_used(cache: type[Any], right: bool) -> None:
    made = []

    def make(pool: BlockPool) -> Any:
        made.append(cache(pool))
        return made[-1]

    core = checksum_core(components=Components(prefix_cache=make), prefix_caching=True)
    core.submit([1] * 9, SamplingParams(max_tokens=3))
    drain(core)
    live = core.submit([2] * 9, SamplingParams(max_tokens=3))
    drain(core)
    assert len(made) == 1
    assert (live.request.output_token_ids == reference([2] * 9, 3)) is right


@pytest.mark.parametrize("block_size", [4, 16])
def test_a_real_model_says_the_same_with_the_cache(block_size: int) -> None:
    prompts = [list(range(1, 40)), [*range(1, 33), 7, 8], list(range(1, 40))]
    answers = []
    for caching in (False, True):
        llm = LLM(
            "tiny",
            dtype="float32",
            progress=False,
            num_kv_blocks=64,
            block_size=block_size,
            prefix_caching=caching,
        )
        outputs = [llm.generate(prompt, SamplingParams(max_tokens=12))[0] for prompt in prompts]
        answers.append([output.token_ids for output in outputs])
        assert [output.num_cached_tokens for output in outputs] == (
            [0, 32, (38 // block_size) * block_size] if caching else [0, 0, 0]
        )
    assert answers[0] == answers[1]
