"""Log-probabilities: the model's own, one for each token, cut where ids and text are cut (convention 4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from inference_kit import LLM, Engine, EngineConfig, SamplingParams
from inference_kit.errors import InvalidField
from inference_kit.model.logprobs import token_logprob
from inference_kit.scheduler import StepOutput, StepPlan, TokenLogprob
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory
from tests.engine.machine import Letters
from tests.engine.run import drain, ends
from tests.model.reference import write_random_checkpoint

PROMPT = [65, 66, 67]


class TellsPosition(ChecksumRunner):
    """The entry of a token is minus the position before it: so each entry shows where it belongs."""

    def run(self, plan: StepPlan) -> StepOutput:
        output = super().run(plan)
        entries = {
            chunk.request_id: TokenLogprob(output.token_ids[chunk.request_id], -float(chunk.position))
            for chunk in plan.chunks
            if chunk.samples and chunk.sampling.logprobs is not None
        }
        return StepOutput(output.token_ids, logprobs=(entries,) if entries else ())


def test_they_are_those_of_the_models_own_logits(tmp_path: Path) -> None:
    folder = write_random_checkpoint(tmp_path / "model", "llama")
    params = SamplingParams(max_tokens=6, logprobs=4, temperature=1.5, top_k=50, seed=3)
    prompts = [[5, 6, 7], [9] * 5]
    llm = LLM(str(folder), dtype="float32", progress=False)
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for prompt, output in zip(prompts, llm.generate(prompts, params), strict=True):
        with torch.no_grad():
            logits = network(torch.tensor([[*prompt, *output.token_ids]])).logits[0]
        assert output.logprobs is not None
        assert [entry.token_id for entry in output.logprobs] == list(output.token_ids)
        for entry, row in zip(output.logprobs, logits[len(prompt) - 1 :].log_softmax(-1), strict=False):
            assert entry.logprob == pytest.approx(float(row[entry.token_id]), abs=1e-4)
            best = row.topk(4)
            assert [index for index, _ in entry.top] == best.indices.tolist()
            assert [value for _, value in entry.top] == pytest.approx(best.values.tolist(), abs=1e-4)


def test_ties_go_to_the_lowest_id_and_minus_infinity_is_written_as_a_number() -> None:
    logits = torch.tensor([1.0, 3.0, 3.0, -torch.inf, 1.0])
    entry = token_logprob(logits, 3, 5)
    assert entry.logprob == -9999.0
    assert [index for index, _ in entry.top] == [1, 2, 0, 4, 3]
    assert entry.top[-1] == (3, -9999.0)
    assert token_logprob(logits, 1, 0).top == ()


def test_without_the_request_for_them_there_are_none() -> None:
    llm = LLM("tiny", progress=False)
    assert llm.generate([PROMPT], SamplingParams(max_tokens=3))[0].logprobs is None
    plain = llm.generate([PROMPT], SamplingParams(max_tokens=3, logprobs=0))[0].logprobs
    assert plain is not None
    assert [entry.top for entry in plain] == [(), (), ()]


def positions(entries: Any) -> list[float]:
    return [-entry.logprob for entry in entries]


@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("stop_at", [2, 3, 5])
def test_ids_text_and_entries_end_at_the_same_token(
    make_core: CoreFactory, rounds: int, stop_at: int
) -> None:
    text = "".join(chr(48 + token) for token in reference([1, 2], 8))
    core = make_core(runner=TellsPosition, decode_rounds=rounds, block_size=16, tokenizer=Letters())
    params = SamplingParams(max_tokens=8, logprobs=0, stop=(text[stop_at - 2 : stop_at],))
    live = core.submit([1, 2], params)
    drain(core, take=False)
    chunk = live.take()
    assert chunk is not None
    assert (chunk.text, chunk.finish_reason) == (text[: stop_at - 2], "stop_string")
    assert len(chunk.token_ids) == len(chunk.logprobs) == stop_at
    assert positions(chunk.logprobs) == positions(live.logprobs) == list(range(1, stop_at + 1))


def test_each_chunk_carries_the_entries_of_its_own_tokens(make_core: CoreFactory) -> None:
    core = make_core(runner=TellsPosition, channel_high=3, channel_low=1, max_step_tokens=2)
    asks = core.submit([1, 2, 3], SamplingParams(max_tokens=9, logprobs=0))
    asks_not = core.submit([4], SamplingParams(max_tokens=9))
    taken: list[float] = []
    while core.has_work:
        core.step()
        for live in core.take_touched():
            chunk = live.take(2)
            if live is asks and chunk is not None:
                assert len(chunk.logprobs) == len(chunk.token_ids)
                taken += positions(chunk.logprobs)
            elif chunk is not None:
                assert chunk.logprobs == ()
    while (chunk := asks.take()) is not None:
        taken += positions(chunk.logprobs)
    assert taken == [float(position) for position in range(2, 11)]
    assert ends(asks_not) == (reference([4], 9), "length")


def test_entries_survive_preemption(make_core: CoreFactory) -> None:
    core = make_core(runner=TellsPosition, num_kv_blocks=8, block_size=2, watermark=0.0)
    lives = [core.submit([first, 2, 3], SamplingParams(max_tokens=10, logprobs=0)) for first in (1, 2)]
    plans = drain(core)
    assert any(plan.preempted for plan in plans)
    for live in lives:
        assert positions(live.logprobs) == [float(position) for position in range(2, 12)]


def test_a_runner_that_gives_none_fails_the_request_that_asked(make_core: CoreFactory) -> None:
    core = make_core()
    asked = core.submit([1], SamplingParams(max_tokens=4, logprobs=2))
    other = core.submit([2], SamplingParams(max_tokens=4))
    drain(core)
    assert (str(asked.request.finish_reason), str(other.request.finish_reason)) == ("error", "length")
    assert "no log-probability" in str(asked.request.error)


def test_a_stream_carries_them_too() -> None:
    async def test() -> list[float]:
        async with Engine(EngineConfig(model="tiny"), progress=False) as engine:
            stream = engine.submit(PROMPT, SamplingParams(max_tokens=5, logprobs=1, n=2, seed=1))
            entries = [entry async for chunk in stream for entry in chunk.logprobs if chunk.index == 0]
            return [entry.logprob for entry in entries]

    streamed = asyncio.run(test())
    output = LLM("tiny", progress=False).generate([PROMPT], SamplingParams(max_tokens=5, logprobs=1))[0]
    assert output.logprobs is not None
    assert streamed == pytest.approx([entry.logprob for entry in output.logprobs], abs=0.05)


@pytest.mark.parametrize("value", [-1, 21, 1.5, True, "3"])
def test_a_bad_number_is_named(value: Any) -> None:
    with pytest.raises(InvalidField, match="logprobs"):
        SamplingParams(logprobs=value)
