"""The engine does the same on the plain pool as on the fast one."""

from __future__ import annotations

import pytest

from inference_kit import Components, SamplingParams
from inference_kit.kv import BlockPool, PlainBlockPool, PlainPrefixCache, Pooling
from tests.checksum import reference
from tests.cores import CoreFactory
from tests.engine.run import drain, ends


@pytest.mark.parametrize("num_blocks", [6, 9, 64])
@pytest.mark.parametrize("cached", [False, True])
def test_outputs_are_those_of_the_model_under_preemption_and_caching(
    make_core: CoreFactory, num_blocks: int, cached: bool
) -> None:
    parts = Components(block_pool=PlainBlockPool, prefix_cache=PlainPrefixCache)
    core = make_core(components=parts, num_kv_blocks=num_blocks, prefix_caching=cached, watermark=0.0)
    prompts = [[1, 2, 3], [5] * 8, [7, 1, 4, 9, 9], [5] * 8, list(range(1, 13))]
    lives = [core.submit(prompt, SamplingParams(max_tokens=9)) for prompt in prompts]
    plans = drain(core)
    assert [ends(live) for live in lives] == [(reference(prompt, 9), "length") for prompt in prompts]
    assert any(plan.preempted for plan in plans) == (num_blocks < 10)


def test_both_pools_make_the_same_hits(make_core: CoreFactory) -> None:
    found = []
    makers: list[type[Pooling]] = [BlockPool, PlainBlockPool]
    for make in makers:
        core = make_core(components=Components(block_pool=make), num_kv_blocks=7, prefix_caching=True)
        hits = []
        for prompt in ([1] * 9, [2] * 9, [1] * 9, [3] * 17, [2] * 9, [1] * 9):
            live = core.submit(prompt, SamplingParams(max_tokens=2))
            drain(core)
            hits.append(live.request.num_cached_tokens)
        found.append(hits)
    assert found[0] == found[1] and any(found[0])
