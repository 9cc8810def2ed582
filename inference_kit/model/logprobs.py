"""Log-probabilities of sampled tokens, from the model's own logits: before temperature and filters.

It chooses nothing. Invariant: an entry depends on its row of logits only, so it is the same in any company.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..scheduler.plan import TokenLogprob

NEVER = -9999.0
"""What is written for minus infinity, which JSON cannot hold (conventions 12 and 14)."""


def token_logprob(logits: Tensor, token_id: int, num_top: int) -> TokenLogprob:
    """The entry of one sampled token.

    Args:
        logits: float `[vocab_size]`, with a finite maximum.
        token_id: the id that was chosen.
        num_top: how many of the likeliest ids to name; ties go to the lowest id.
    """
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    order = torch.sort(logprobs, descending=True, stable=True).indices[:num_top].tolist() if num_top else []
    top = tuple((index, _finite(float(logprobs[index]))) for index in order)
    return TokenLogprob(token_id, _finite(float(logprobs[token_id])), top)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else NEVER
