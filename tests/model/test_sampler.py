"""Sampling: the sets kept by top_k, top_p and min_p, ties, keys, and independence of batch mates."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
import torch

from inference_kit.model.fast_sampler import FastSampler
from inference_kit.model.plain_sampler import PlainSampler
from inference_kit.model.sampler import Sampler, SampleRow, banned_ids, draw
from inference_kit.sampling import SamplingParams

SAMPLERS: list[Sampler] = [FastSampler(), PlainSampler()]
both = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: type(s).__name__)


def row(seed: int = 0, position: int = 0, banned: tuple[int, ...] = (), **params: Any) -> SampleRow:
    return SampleRow(SamplingParams(**params), seed, 0, position, banned)


def probabilities(*shares: float) -> torch.Tensor:
    return torch.tensor([[math.log(share) if share else -math.inf for share in shares]])


def drawn_ids(sampler: Sampler, logits: torch.Tensor, **params: Any) -> set[int]:
    """Ids that 200 positions draw from one row of logits."""
    rows = [row(position=p, temperature=params.get("temperature", 1.0), **_rest(params)) for p in range(200)]
    return set(sampler.sample(logits.expand(200, -1), rows))


def _rest(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "temperature"}


@both
def test_greedy_takes_the_highest_and_the_lowest_id_of_equals(sampler: Sampler) -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0, 3.0], [5.0, 5.0, 5.0, 5.0]])
    assert sampler.sample(logits, [row(), row()]) == [1, 0]


@both
def test_banned_ids_are_not_chosen_and_the_logits_stay_as_they_were(sampler: Sampler) -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0, 2.0]])
    before = logits.clone()
    assert sampler.sample(logits, [row(banned=(1, 3))]) == [2]
    assert sampler.sample(logits, [row(banned=(0, 1, 3), temperature=2.0)]) == [2]
    assert torch.equal(logits, before)


@both
def test_top_k_keeps_k_and_the_lowest_ids_of_equals(sampler: Sampler) -> None:
    assert drawn_ids(sampler, probabilities(0.2, 0.3, 0.2, 0.2, 0.1), top_k=2) == {0, 1}
    assert drawn_ids(sampler, probabilities(0.25, 0.25, 0.25, 0.25), top_k=3) == {0, 1, 2}
    assert drawn_ids(sampler, probabilities(0.5, 0.5), top_k=9) == {0, 1}


@both
def test_top_p_keeps_the_smallest_set_that_reaches_p(sampler: Sampler) -> None:
    shares = probabilities(0.1, 0.5, 0.15, 0.25)
    assert drawn_ids(sampler, shares, top_p=0.4) == {1}
    assert drawn_ids(sampler, shares, top_p=0.7) == {1, 3}
    assert drawn_ids(sampler, shares, top_p=0.8) == {1, 2, 3}
    assert drawn_ids(sampler, probabilities(0.25, 0.25, 0.25, 0.25), top_p=0.6) == {0, 1, 2}


@both
def test_top_p_counts_what_top_k_left(sampler: Sampler) -> None:
    assert drawn_ids(sampler, probabilities(0.4, 0.3, 0.2, 0.1), top_k=2, top_p=0.55) == {0}


@both
def test_min_p_keeps_what_is_likely_enough_beside_the_best(sampler: Sampler) -> None:
    assert drawn_ids(sampler, probabilities(0.5, 0.26, 0.14, 0.1), min_p=0.5) == {0, 1}


@both
def test_an_impossible_id_is_never_drawn(sampler: Sampler) -> None:
    assert drawn_ids(sampler, probabilities(0.0, 0.5, 0.0, 0.5), temperature=2.0) == {1, 3}


@both
def test_a_very_low_temperature_is_greedy(sampler: Sampler) -> None:
    assert drawn_ids(sampler, torch.tensor([[10.0, 10.5, -900.0]]), temperature=1e-300) == {1}


@both
def test_draws_follow_the_probabilities(sampler: Sampler) -> None:
    count = 4000
    rows = [row(seed=p, position=p, temperature=1.0) for p in range(count)]
    drawn = Counter(sampler.sample(probabilities(0.1, 0.2, 0.3, 0.4).expand(count, -1), rows))
    for token_id, share in enumerate((0.1, 0.2, 0.3, 0.4)):
        # Five standard deviations of a binomial count.
        assert abs(drawn[token_id] - share * count) < 5 * math.sqrt(count * share * (1 - share))


@both
def test_a_choice_does_not_depend_on_batch_mates_or_the_row(sampler: Sampler) -> None:
    logits = torch.randn(9, 300, generator=torch.Generator().manual_seed(1))
    rows = [row(seed=7 * i, position=i, temperature=0.5 + 0.1 * i, top_p=0.9, min_p=0.01) for i in range(9)]
    together = sampler.sample(logits, rows)
    alone = [sampler.sample(logits[i : i + 1], [rows[i]])[0] for i in range(9)]
    backwards = sampler.sample(logits.flip(0), rows[::-1])[::-1]
    assert together == alone == backwards


def test_fast_and_plain_samplers_agree() -> None:
    rng = random.Random(3)
    generator = torch.Generator().manual_seed(3)
    for case in range(300):
        # Rounded logits bring ties.
        logits = (torch.randn(3, 60, generator=generator) * 3).round(decimals=1)
        rows = [
            row(
                seed=rng.randrange(2**64),
                position=case,
                banned=tuple(rng.sample(range(60), rng.choice((0, 3)))),
                temperature=rng.choice((0.0, 0.3, 1.0, 2.0)),
                top_k=rng.choice((0, 1, 5, 30)),
                top_p=rng.choice((1.0, 0.95, 0.5, 0.01)),
                min_p=rng.choice((0.0, 0.1, 1.0)),
            )
            for _ in range(3)
        ]
        assert FastSampler().sample(logits, rows) == PlainSampler().sample(logits, rows)


def test_draw_is_a_function_of_seed_index_and_position() -> None:
    assert draw(5, 0, 9) == draw(5, 0, 9)
    assert len({draw(5, 0, p) for p in range(100)} | {draw(s, 0, 9) for s in range(6, 100)}) == 194


def test_sample_i_of_n_uses_seed_plus_i() -> None:
    assert draw(5, 3, 9) == draw(8, 0, 9)
    assert draw(2**64 - 1, 1, 9) == draw(0, 0, 9)


def test_draws_lie_in_the_unit_interval_and_are_even() -> None:
    values = [draw(1, 0, p) for p in range(20_000)]
    assert min(values) >= 0 and max(values) < 1
    assert abs(sum(values) / len(values) - 0.5) < 5 / math.sqrt(12 * len(values))


def test_ends_are_banned_until_min_tokens() -> None:
    params = SamplingParams(min_tokens=2, stop_token_ids=[9, 4])
    assert banned_ids(params, 1, (2,)) == (2, 4, 9)
    assert banned_ids(params, 2, (2,)) == ()


def test_an_ignored_eos_is_an_ordinary_token() -> None:
    assert banned_ids(SamplingParams(min_tokens=2, ignore_eos=True), 0, (2,)) == ()
