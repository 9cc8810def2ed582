"""The kit's default sampler: greedy rows at once, the others one by one in torch.

It chooses what `PlainSampler` chooses. Rows that draw are computed one at a time in float64: a batched
reduction may round differently for another batch size, and a row's choice must not depend on that.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..sampling import SamplingParams
from .sampler import SampleRow, draw


class FastSampler:
    """Greedy and seeded sampling without sorting the vocabulary."""

    def sample(self, logits: Tensor, rows: Sequence[SampleRow]) -> list[int]:
        """See `Sampler.sample`."""
        logits = _ban(logits, rows)
        # argmax gives the first of equal maxima: ties go to the lowest id.
        chosen: list[int] = logits.argmax(dim=-1).tolist()
        for index, row in enumerate(rows):
            if row.params.temperature > 0:
                chosen[index] = _draw_row(logits[index], row)
        return chosen


def _ban(logits: Tensor, rows: Sequence[SampleRow]) -> Tensor:
    """The logits, copied where some row has ids that may not be chosen yet."""
    width = logits.shape[1]
    places = [(r, i) for r, row in enumerate(rows) for i in row.banned_ids if i < width]
    if not places:
        return logits
    at = torch.tensor(places, device=logits.device)
    logits = logits.clone()
    logits[at[:, 0], at[:, 1]] = -torch.inf
    return logits


def _draw_row(logits: Tensor, row: SampleRow) -> int:
    """One draw from the tokens that survive, by their cumulative weight in the order of ids."""
    ids, weights = _keep(logits, row.params)
    total = weights.cumsum(0)
    target = total[-1] * draw(row.seed, row.sample_index, row.position)
    place = int(torch.searchsorted(total, target, right=True))
    return int(ids[min(place, len(ids) - 1)])


def _keep(logits: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor]:
    """Ids (ascending) and float64 weights of the tokens that survive; the top token weighs 1."""
    weights = ((logits.double() - logits.max().double()) / params.temperature).exp()
    ids = weights.nonzero().squeeze(1)
    if 0 < params.top_k < len(ids):
        ids = _highest(logits, ids, params.top_k)
    if params.top_p < 1:
        ids = _nucleus(logits, weights, ids, params.top_p)
    if params.min_p > 0:
        ids = ids[weights[ids] >= params.min_p]
    return ids, weights[ids]


def _highest(logits: Tensor, ids: Tensor, k: int) -> Tensor:
    """The `k` ids with the highest logits; of equal ones the lowest ids. Stays in ascending order."""
    values = logits[ids]
    edge = values.topk(k).values[-1]
    above = values > edge
    at_edge = values == edge
    at_edge &= at_edge.cumsum(0) <= k - above.sum()
    return ids[above | at_edge]


def _nucleus(logits: Tensor, weights: Tensor, ids: Tensor, top_p: float) -> Tensor:
    """The smallest set of ids that holds `top_p` of the weight, in ascending order.

    A token lighter than (1 - top_p) * total / count cannot belong to it: all such tokens together
    weigh less than what may be dropped. So only the heavier ones are sorted.
    """
    total = weights[ids].sum()
    candidates = ids[weights[ids] >= (1 - top_p) * total / len(ids)]
    order = logits[candidates].sort(descending=True, stable=True).indices
    held = weights[candidates[order]].cumsum(0)
    count = int(torch.searchsorted(held, top_p * total)) + 1
    return candidates[order[:count]].sort().values
