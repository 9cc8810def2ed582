"""The sampler one would write first: one row at a time, plain Python numbers, one sort.

It is the reference for `FastSampler` and needs no torch beyond reading the row. Its invariant is that
of every sampler: a row's choice depends on that row only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..sampling import SamplingParams
from .sampler import SampleRow, draw

if TYPE_CHECKING:
    from torch import Tensor


class PlainSampler:
    """Greedy and seeded sampling in plain Python. Slow for large vocabularies, easy to follow."""

    def sample(self, logits: Tensor, rows: Sequence[SampleRow]) -> list[int]:
        """See `Sampler.sample`."""
        return [choose(values, row) for values, row in zip(logits.tolist(), rows, strict=True)]


def choose(logits: list[float], row: SampleRow) -> int:
    """The id for one row: the highest logit when greedy, else a draw from the kept tokens."""
    allowed = [-math.inf if i in row.banned_ids else value for i, value in enumerate(logits)]
    if row.params.temperature == 0:
        return max(range(len(allowed)), key=lambda i: (allowed[i], -i))
    kept = keep(allowed, row.params)
    target = draw(row.seed, row.sample_index, row.position) * sum(kept.values())
    total = 0.0
    for token_id in sorted(kept):
        total += kept[token_id]
        if total > target:
            return token_id
    return max(kept)


def keep(logits: list[float], params: SamplingParams) -> dict[int, float]:
    """Weights of the tokens that survive, in this order: temperature, top_k, top_p, min_p.

    Weights are relative to the most likely token, which has 1. Ties keep the lowest ids.
    """
    top = max(logits)
    weights = [math.exp((value - top) / params.temperature) for value in logits]
    order = sorted((i for i in range(len(weights)) if weights[i] > 0), key=lambda i: (-logits[i], i))
    if params.top_k:
        order = order[: params.top_k]
    if params.top_p < 1:
        limit = params.top_p * sum(weights[i] for i in order)
        total = 0.0
        for count, token_id in enumerate(order, start=1):
            total += weights[token_id]
            if total >= limit:
                order = order[:count]
                break
    return {i: weights[i] for i in order if weights[i] >= params.min_p}
