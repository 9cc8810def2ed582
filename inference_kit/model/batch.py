"""A step plan as tensors: one flat batch of tokens, and who attends to which slots.

It turns block tables into slots and positions into masks, and holds no state. Its invariant: a padded
place in a group repeats a slot of the same request, so no request ever reads another one's numbers.
That matters beyond tidiness: a masked NaN still spoils an attention sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..kv.table import slot_mapping
from ..scheduler.plan import ScheduledChunk


@dataclass(frozen=True)
class AttentionGroup:
    """`B` requests with `T` query tokens each, computed by one attention call.

    The decode rows of a step form one group (`T` is 1); each longer chunk forms its own (`B` is 1).
    """

    rows: Tensor
    """`[B * T]`: places of the query tokens in the flat batch."""
    slots: Tensor
    """`[B, L]`: slots of the positions that the queries may see."""
    mask: Tensor | None
    """`[B, 1, T, L]`, True where a query sees a position; None where all see all."""


@dataclass(frozen=True)
class StepBatch:
    """The tokens of all chunks in one line, and the attention groups for each window in the model."""

    token_ids: Tensor
    """`[num_tokens]`."""
    positions: Tensor
    """`[num_tokens]`: absolute positions."""
    slot_mapping: Tensor
    """`[num_tokens]`: where each token's keys and values go."""
    sample_rows: Tensor
    """`[num_samples]`: the last row of each sampling chunk."""
    groups: dict[int | None, list[AttentionGroup]]
    """Attention groups by window (`ModelConfig.layer_windows`)."""


def build_batch(
    chunks: Sequence[ScheduledChunk],
    block_size: int,
    windows: Sequence[int | None],
    device: torch.device,
) -> StepBatch:
    """Flatten `chunks` in their order and group them for attention, once for each distinct window."""
    first_rows: list[int] = []
    token_ids: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    for chunk in chunks:
        first_rows.append(len(token_ids))
        token_ids.extend(chunk.token_ids)
        span = range(chunk.start, chunk.position + 1)
        positions.extend(span)
        slots.extend(slot_mapping(chunk.block_table, span.start, span.stop, block_size))
    sample_rows = [
        row + len(chunk.token_ids) - 1 for row, chunk in zip(first_rows, chunks, strict=True) if chunk.samples
    ]
    placed = list(zip(first_rows, chunks, strict=True))
    parts = [[pair for pair in placed if len(pair[1].token_ids) == 1]]
    parts += [[pair] for pair in placed if len(pair[1].token_ids) > 1]
    return StepBatch(
        token_ids=torch.tensor(token_ids, device=device),
        positions=torch.tensor(positions, device=device),
        slot_mapping=torch.tensor(slots, device=device),
        sample_rows=torch.tensor(sample_rows, dtype=torch.int64, device=device),
        groups={
            window: [_group(part, block_size, window, device) for part in parts if part]
            for window in set(windows)
        },
    )


def _group(
    placed: Sequence[tuple[int, ScheduledChunk]], block_size: int, window: int | None, device: torch.device
) -> AttentionGroup:
    """One group of chunks with the same number of tokens."""
    num_queries = len(placed[0][1].token_ids)
    starts = torch.tensor([chunk.start for _, chunk in placed])
    lasts = starts + num_queries - 1
    # The oldest position that the group's first query still sees.
    firsts = torch.zeros_like(starts) if window is None else (starts - window + 1).clamp(min=0)
    length = int((lasts - firsts).max()) + 1
    seen = firsts[:, None] + torch.arange(length)
    padded = seen > lasts[:, None]
    slots = _slots([chunk.block_table for _, chunk in placed], seen.minimum(lasts[:, None]), block_size)
    rows = torch.tensor([row for row, _ in placed])[:, None] + torch.arange(num_queries)
    mask = None
    if num_queries > 1 or bool(padded.any()):
        queries = starts[:, None] + torch.arange(num_queries)
        mask = seen[:, None, :] <= queries[:, :, None]
        if window is not None:
            mask &= seen[:, None, :] > queries[:, :, None] - window
        mask = mask[:, None].to(device)
    return AttentionGroup(rows=rows.flatten().to(device), slots=slots.to(device), mask=mask)


def _slots(block_tables: Sequence[Sequence[int]], positions: Tensor, block_size: int) -> Tensor:
    """Slots of `positions` `[B, L]`: `block_table[p // block_size] * block_size + p % block_size`."""
    widest = int(positions.max()) // block_size + 1
    # A table may be shorter than the widest; the places behind its end are never looked up.
    padded = [(*table[:widest], *(0,) * (widest - len(table))) for table in block_tables]
    blocks = torch.tensor(padded).gather(1, positions // block_size)
    return blocks * block_size + positions % block_size
