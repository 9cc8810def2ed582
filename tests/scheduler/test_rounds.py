"""Several tokens of a request in one step: the same answers, limits and ends as one token at a time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import LLM, SamplingParams
from inference_kit.errors import InvalidField
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back, checksum_core
from tests.engine.run import drain, ends


@settings(max_examples=80, deadline=None)
@given(
    rounds=st.integers(2, 20),
    block_size=st.integers(1, 20),
    lengths=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 20)), min_size=1, max_size=4),
)
def test_rounds_change_no_answer(rounds: int, block_size: int, lengths: list[tuple[int, int]]) -> None:
    core = checksum_core(decode_rounds=rounds, block_size=block_size, num_kv_blocks=4 + 60 // block_size)
    prompts = [[7 + index] * length for index, (length, _) in enumerate(lengths)]
    lives = [
        core.submit(prompt, SamplingParams(max_tokens=most))
        for prompt, (_, most) in zip(prompts, lengths, strict=True)
    ]
    drain(core)
    for prompt, (_, most), live in zip(prompts, lengths, lives, strict=True):
        assert ends(live) == (reference(prompt, most), "length")
    check_all_given_back(core)


def test_no_round_runs_beyond_the_limit_or_the_blocks(make_core: CoreFactory) -> None:
    core = make_core(decode_rounds=8, block_size=4)
    live = core.submit([1, 2], SamplingParams(max_tokens=4))
    core.step()
    # Slots 2 and 3 are left in the block: the tokens at 2 and 3 are computed, and the third is sampled.
    assert live.request.num_output_tokens == 3
    core.step()
    assert ends(live) == (reference([1, 2], 4), "length")
    assert live.token_counts.proposed == 4


def test_what_stands_behind_a_stop_in_the_same_step_is_discarded(make_core: CoreFactory) -> None:
    whole = reference([1, 2], 6)
    core = make_core(decode_rounds=6, block_size=16)
    live = core.submit([1, 2], SamplingParams(max_tokens=6, stop_token_ids=(whole[2],)))
    core.step()
    assert ends(live) == (whole[:3], "stop_token")
    assert dict(live.token_counts) == {"proposed": 6, "committed": 3, "unsent": 3, "sent": 0}
    assert core.snapshot()["proposed_tokens"] == 6


def test_unsent_tokens_stay_within_the_high_mark_and_one_step(make_core: CoreFactory) -> None:
    core = make_core(decode_rounds=4, block_size=64, channel_high=5, channel_low=2)
    live = core.submit([1, 2], SamplingParams(max_tokens=20))
    unsent = []
    for _ in range(6):
        core.step()
        unsent.append(live.channel.unsent)
    assert unsent == [4, 8, 8, 8, 8, 8]
    assert str(live.request.state) == "streaming"
    live.take()
    drain(core)
    assert ends(live) == (reference([1, 2], 20), "length")


def test_a_fault_in_a_later_round_fails_its_request_alone(make_core: CoreFactory) -> None:
    class FailsLater(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            output = super().run(plan)
            bad = [
                chunk.request_id for chunk in plan.chunks if chunk.request_id == "bad" and chunk.start == 3
            ]
            return StepOutput(
                {name: token for name, token in output.token_ids.items() if name not in bad},
                dict.fromkeys(bad, "NaN"),
            )

    core = make_core(runner=FailsLater, decode_rounds=8, block_size=16)
    bad = core.submit([1, 2], SamplingParams(max_tokens=6), request_id="bad")
    good = core.submit([3, 4], SamplingParams(max_tokens=6))
    drain(core)
    assert bad.request.finish_reason == "error"
    assert ends(good) == (reference([3, 4], 6), "length")


@pytest.mark.parametrize("rounds", [3, 16])
def test_a_real_model_says_the_same_in_rounds(rounds: int) -> None:
    prompts = [[65, 66, 67], list(range(70, 100)), [80]]
    params = [SamplingParams(max_tokens=20), SamplingParams(max_tokens=9, temperature=0.8, seed=3)] * 2

    def answers(**options: Any) -> list[Any]:
        llm = LLM("tiny", seed=1, progress=False, dtype="float32", **options)
        return [
            llm.generate([prompt], one)[0].token_ids for prompt, one in zip(prompts, params, strict=False)
        ]

    assert answers(decode_rounds=rounds) == answers()


@pytest.mark.parametrize("rounds", [0, -1, 1.5, None, True])
def test_a_bad_number_of_rounds_is_named(make_core: CoreFactory, rounds: Any) -> None:
    with pytest.raises(InvalidField, match="decode_rounds"):
        make_core(decode_rounds=rounds)
