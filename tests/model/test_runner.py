"""The runner: requests do not disturb each other, and a bad one fails alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from inference_kit.model import LoadedModel, load
from inference_kit.model.config import ModelConfig
from inference_kit.model.kv_cache import PagedKVCache
from inference_kit.model.runner import ModelRunner
from inference_kit.model.sampler import SampleRow
from inference_kit.sampling import SamplingParams
from inference_kit.scheduler.plan import ScheduledChunk, StepPlan

from .stepping import greedy, make_sequencers, run_all

PROMPTS = [[1, 2, 3], [7] * 20, [200, 100], list(range(50))]


@pytest.fixture
def tiny() -> LoadedModel:
    return load("tiny")


def chunk(request_id: str = "r", token_ids: Sequence[int] = (1, 2), **fields: Any) -> ScheduledChunk:
    given = {"start": 0, "block_table": (0,), "samples": True, "sampling": SamplingParams(), "seed": 0}
    return ScheduledChunk(request_id, tuple(token_ids), **{**given, **fields})


def poison(model: LoadedModel, token_id: int) -> None:
    """Make the network give NaN for every text that holds `token_id`."""
    model.network.model.embed_tokens.weight[token_id] = torch.nan


def test_ids_do_not_depend_on_batch_chunks_or_blocks(tiny: LoadedModel) -> None:
    alone = [greedy(tiny, [prompt], 30)[0] for prompt in PROMPTS]
    assert greedy(tiny, PROMPTS, 30) == alone
    assert greedy(tiny, PROMPTS, 30, chunk=1, block_size=1) == alone
    assert greedy(tiny, PROMPTS, 30, chunk=5, block_size=64) == alone


def test_sampled_ids_do_not_depend_on_batch_mates(tiny: LoadedModel) -> None:
    def sampled(prompts: list[list[int]], first_seed: int) -> list[list[int]]:
        sequencers, blocks = make_sequencers(prompts, 20, 8)
        for index, sequencer in enumerate(sequencers):
            sequencer.params = SamplingParams(temperature=1.0, top_p=0.95)
            sequencer.seed = first_seed + index
        run_all(tiny.make_runner(blocks, 8), sequencers, 20)
        return [sequencer.output for sequencer in sequencers]

    together = sampled(PROMPTS, 40)
    assert together == [sampled([prompt], 40 + index)[0] for index, prompt in enumerate(PROMPTS)]
    assert sampled([[1]] * 2, 0)[0] != sampled([[1]] * 2, 0)[1]


def test_a_partial_prefill_samples_nothing(tiny: LoadedModel) -> None:
    output = tiny.make_runner(1, 4).run(StepPlan(0, (chunk(samples=False),)))
    assert output.token_ids == {} and output.errors == {}


def test_an_empty_plan_gives_an_empty_answer(tiny: LoadedModel) -> None:
    assert tiny.make_runner(1, 4).run(StepPlan(0, ())).token_ids == {}


def test_a_nan_row_fails_only_its_request(tiny: LoadedModel) -> None:
    expected = greedy(tiny, [PROMPTS[0], PROMPTS[3]], 10)
    poison(tiny, 255)
    sequencers, blocks = make_sequencers([PROMPTS[0], [5, 255, 6], PROMPTS[3]], 10, 4)
    run_all(tiny.make_runner(blocks, 4), sequencers, 10)
    assert [s.output for s in (sequencers[0], sequencers[2])] == expected
    assert sequencers[1].error is not None and "NaN" in sequencers[1].error
    assert sequencers[1].output == []


def test_blocks_that_held_nan_are_clean_for_the_next_request(tiny: LoadedModel) -> None:
    expected = greedy(tiny, [[3], [1, 2, 3, 4, 5, 6, 7]], 8)
    poison(tiny, 255)
    runner = tiny.make_runner(8, 4)
    every_slot = chunk("bad", [255] * 32, block_table=tuple(range(8)))
    assert "bad" in runner.run(StepPlan(0, (every_slot,))).errors
    sequencers, _ = make_sequencers([[3], [1, 2, 3, 4, 5, 6, 7]], 8, 4)
    run_all(runner, sequencers, 8)
    assert [s.output for s in sequencers] == expected


def test_an_id_outside_the_vocabulary_fails_only_its_request(tiny: LoadedModel) -> None:
    good, bad = chunk("good"), chunk("bad", [1, 260], block_table=(1,))
    output = tiny.make_runner(2, 4).run(StepPlan(0, (good, bad)))
    assert list(output.token_ids) == ["good"]
    assert "260" in output.errors["bad"] and "0..259" in output.errors["bad"]


def test_a_block_table_that_is_too_short_fails_only_its_request(tiny: LoadedModel) -> None:
    good, bad = chunk("good"), chunk("bad", range(9), block_table=(1, 2))
    output = tiny.make_runner(3, 4).run(StepPlan(0, (good, bad)))
    assert list(output.token_ids) == ["good"] and "8 slots" in output.errors["bad"]


def test_min_tokens_holds_back_the_ends(tiny: LoadedModel) -> None:
    plan = StepPlan(0, (chunk(),))
    free = tiny.make_runner(1, 4).run(plan).token_ids["r"]
    held = SamplingParams(min_tokens=1, stop_token_ids=[free])
    runner = tiny.make_runner(1, 4)
    assert runner.run(StepPlan(0, (chunk(sampling=held),))).token_ids["r"] != free
    assert runner.run(StepPlan(0, (chunk(sampling=held, num_generated=1),))).token_ids["r"] == free


def test_min_tokens_that_leaves_no_choice_is_an_error_of_the_request(tiny: LoadedModel) -> None:
    held = SamplingParams(min_tokens=1, stop_token_ids=list(range(260)))
    output = tiny.make_runner(1, 4).run(StepPlan(0, (chunk(sampling=held),)))
    assert "min_tokens" in output.errors["r"]


def test_padded_ids_of_the_head_are_never_sampled() -> None:
    """Case A12 of the reports: logits [0, 0, 0, 4, 0, 0, 0, 0, 1, 9], a tokenizer of 8 ids."""
    output = constant_runner([0, 0, 0, 4, 0, 0, 0, 0, 1, 9], unused_ids=[8, 9]).run(StepPlan(0, (chunk(),)))
    assert output.token_ids == {"r": 3}


def test_a_loaded_model_masks_the_ids_its_tokenizer_lacks(tiny: LoadedModel) -> None:
    padded = replace(tiny, config=replace(tiny.config, vocab_size=264))
    assert padded.tokenizer is not None
    assert padded.tokenizer.ids_without_token(264) == [260, 261, 262, 263]


class ConstantNetwork:
    """Stands in for a network: every token gets the same logits."""

    def __init__(self, logits: Sequence[float]) -> None:
        self.logits = torch.tensor(logits, dtype=torch.float32)
        self.model = self
        self.embed_tokens = self
        self.weight = torch.zeros(1)

    def __call__(self, batch: Any, rotary: Any, cache: Any) -> Tensor:
        return self.logits.repeat(len(batch.sample_rows), 1)


def constant_runner(
    logits: Sequence[float], unused_ids: Sequence[int] = (), sampler: Any = None
) -> ModelRunner:
    config = ModelConfig.from_hf(
        {
            "model_type": "llama",
            "vocab_size": len(logits),
            "hidden_size": 8,
            "intermediate_size": 8,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
        }
    )
    cache = PagedKVCache(config, 1, 4, torch.float32, torch.device("cpu"))
    network: Any = ConstantNetwork(logits)
    return ModelRunner(network, config, cache, sampler, unused_ids)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_row_without_a_usable_maximum_is_an_error(value: float) -> None:
    output = constant_runner([value] * 4).run(StepPlan(0, (chunk(),)))
    assert output.token_ids == {} and "r" in output.errors


class FixedSampler:
    """A sampler that always gives the same answer."""

    def __init__(self, answer: list[Any]) -> None:
        self.answer = answer
        self.rows: list[SampleRow] = []

    def sample(self, logits: Tensor, rows: Sequence[SampleRow]) -> list[Any]:
        self.rows.extend(rows)
        return self.answer


def test_a_sampler_of_ones_own_is_called_with_the_key_of_the_draw() -> None:
    sampler = FixedSampler([2])
    output = constant_runner([0.0] * 4, sampler=sampler).run(StepPlan(0, (chunk(seed=5, sample_index=1),)))
    assert output.token_ids == {"r": 2}
    assert (sampler.rows[0].seed, sampler.rows[0].sample_index, sampler.rows[0].position) == (5, 1, 1)


@pytest.mark.parametrize("answer", [4, -1, 1.0, True, None])
def test_a_sampler_that_answers_wrongly_is_an_error_of_the_request(answer: Any) -> None:
    output = constant_runner([0.0] * 4, sampler=FixedSampler([answer])).run(StepPlan(0, (chunk(),)))
    assert output.token_ids == {} and "sampler" in output.errors["r"]


def test_a_sampler_that_answers_for_too_many_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="2 ids for 1 rows"):
        constant_runner([0.0] * 4, sampler=FixedSampler([1, 2])).run(StepPlan(0, (chunk(),)))
