"""The whole engine gives the greedy ids of transformers: mixed lengths, chunked or not, preempted or not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from inference_kit import LLM, SamplingParams
from inference_kit.model.sources import CacheSource, ModelRef, SourceMiss, cache_folder
from tests.cores import check_all_given_back
from tests.model.reference import (
    Expected,
    assert_same,
    transformers_greedy,
    transformers_greedy_batched,
    write_random_checkpoint,
)

LENGTHS = (1, 3, 7, 16, 17, 25, 33, 40)
NUM_NEW = 64
FAMILIES = {
    "llama": {},
    "mistral": {"sliding_window": 12},
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {"head_dim": 32},
}
ENGINES = {
    "whole prompts": {"max_step_tokens": 512},
    "chunks of 7": {"max_step_tokens": 24, "max_prefill_chunk": 7},
    "a pool for two": {"num_kv_blocks": 16, "block_size": 16, "watermark": 0.0},
}


def prompts(vocab_size: int) -> list[list[int]]:
    draw = random.Random(5)
    return [[draw.randrange(vocab_size) for _ in range(length)] for length in LENGTHS]


def check(folder: str, expected: list[Expected], vocab_size: int, options: dict[str, object]) -> LLM:
    llm = LLM(folder, dtype="float32", progress=False, **options)
    params = SamplingParams(max_tokens=NUM_NEW, ignore_eos=True)
    outputs = llm.generate(prompts(vocab_size), params)
    assert_same(expected, [list(output.token_ids) for output in outputs])
    check_all_given_back(llm.core)
    return llm


@pytest.fixture(scope="module", params=FAMILIES)
def random_model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Expected]]:
    name: str = request.param
    folder: Path = write_random_checkpoint(tmp_path_factory.mktemp(name), name, **FAMILIES[name])
    return str(folder), transformers_greedy(folder, prompts(199), NUM_NEW)


@pytest.mark.parametrize("engine", ENGINES)
def test_random_models(random_model: tuple[str, list[Expected]], engine: str) -> None:
    folder, expected = random_model
    llm = check(folder, expected, 199, ENGINES[engine])
    if "num_kv_blocks" in ENGINES[engine]:
        assert llm.core.metrics.preempted > 0


@pytest.fixture(scope="module")
def smollm2() -> tuple[str, list[Expected]]:
    try:
        folder = CacheSource(cache_folder()).fetch(ModelRef("smollm2", ""), progress=False)
    except SourceMiss:
        pytest.skip("the weights of smollm2 are not in the cache; `make model` fetches them")
    return str(folder), transformers_greedy_batched(folder, prompts(49152), NUM_NEW)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["whole prompts", "chunks of 7"])
def test_smollm2(smollm2: tuple[str, list[Expected]], engine: str) -> None:
    folder, expected = smollm2
    check(folder, expected, 49152, ENGINES[engine])
