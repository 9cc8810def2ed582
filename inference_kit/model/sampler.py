"""What a sampler is: logits and one `SampleRow` for each request in, one token id for each out.

It holds the Protocol and what every sampler must agree on: the ids a request may not get yet, and the
random number of a draw. That number comes from (seed, sample index, position) alone (convention 12), so
a request draws the same tokens whoever stands beside it. Importing this module does not import torch.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..sampling import MAX_SEED, SamplingParams
from ..scheduler.plan import ScheduledChunk

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SampleRow:
    """What a sampler needs to know about the request of one row of logits."""

    params: SamplingParams
    seed: int
    sample_index: int
    position: int
    """Position of the last computed token; the sampled one will stand behind it."""
    banned_ids: tuple[int, ...] = ()
    """Ids that must not be chosen in this step (`min_tokens`, convention 5)."""


class Sampler(Protocol):
    """Chooses tokens. `FastSampler` is the kit's, `PlainSampler` the one to read."""

    def sample(self, logits: Tensor, rows: Sequence[SampleRow]) -> list[int]:
        """Choose one id for each row of `logits` (float32, `[len(rows), vocab_size]`).

        Each row has a finite maximum that is not banned; -inf marks an id that cannot be chosen.
        The choice for a row depends on that row only. `logits` must not be changed.
        """
        ...


def make_row(chunk: ScheduledChunk, eos_token_ids: Sequence[int]) -> SampleRow:
    """The row of a chunk that samples. `eos_token_ids` are the model's own ends."""
    return SampleRow(
        params=chunk.sampling,
        seed=chunk.seed,
        sample_index=chunk.sample_index,
        position=chunk.position,
        banned_ids=banned_ids(chunk.sampling, chunk.num_generated, eos_token_ids),
    )


def banned_ids(params: SamplingParams, num_generated: int, eos_token_ids: Sequence[int]) -> tuple[int, ...]:
    """Ends that may not come yet: EOS and stop ids while fewer than `min_tokens` were generated."""
    if num_generated >= params.min_tokens:
        return ()
    ends = set(params.stop_token_ids)
    if not params.ignore_eos:
        ends.update(eos_token_ids)
    return tuple(sorted(ends))


def draw(seed: int, sample_index: int, position: int) -> float:
    """The uniform number in [0, 1) of one draw. Sample i of n uses seed + i (convention 12)."""
    key = struct.pack("<QQ", (seed + sample_index) & MAX_SEED, position)
    bits = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")
    # The upper 53 bits are exactly the numbers that a float can hold.
    return (bits >> 11) / 2**53
