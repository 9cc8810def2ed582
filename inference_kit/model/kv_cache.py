"""The paged store of keys and values: one row for each layer and slot.

It knows slots, not requests: which slot belongs to whom is the block tables' matter. A row is read
only after it was written in the same or an earlier step, so old contents never need to be erased.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .config import ModelConfig


def kv_bytes_per_token(config: ModelConfig, dtype: torch.dtype) -> int:
    """Bytes of keys and values that one token takes over all layers."""
    return config.num_layers * 2 * config.num_kv_heads * config.head_dim * dtype.itemsize


class PagedKVCache:
    """Keys and values of `num_blocks * block_size` slots.

    A layer is one tensor `[num_slots, 2 * num_kv_heads * head_dim]`, keys before values, so that one
    `index_select` fetches both. Rows are moved as float32 words whatever the dtype: on a CPU that is
    several times faster than moving bfloat16 (performance.md).
    """

    def __init__(
        self,
        config: ModelConfig,
        num_blocks: int,
        block_size: int,
        dtype: torch.dtype,
        device: torch.device,
        num_host_blocks: int = 0,
    ) -> None:
        self.block_size = block_size
        self.num_slots = num_blocks * block_size
        self._heads_shape = (2, config.num_kv_heads, config.head_dim)
        width = 2 * config.num_kv_heads * config.head_dim
        self._rows = [
            torch.zeros(self.num_slots, width, dtype=dtype, device=device).view(torch.float32)
            for _ in range(config.num_layers)
        ]
        self._host = [torch.zeros(num_host_blocks * block_size, rows.shape[1]) for rows in self._rows]
        """The same rows in host memory, as float32 words."""
        self._dtype = dtype

    def write(self, layer: int, slot_mapping: Tensor, keys: Tensor, values: Tensor) -> None:
        """Store keys and values `[T, num_kv_heads, head_dim]` at slots `slot_mapping` `[T]`."""
        rows = torch.stack((keys, values), dim=1).flatten(1)
        self._rows[layer].index_copy_(0, slot_mapping, rows.view(torch.float32))

    def copy_blocks(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks, (source, destination), in all layers. All are read before any is written."""
        if pairs:
            _copy(self._rows, self._rows, pairs, self.block_size)

    def offload_blocks(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks, (device block, host block), out to host memory."""
        if pairs:
            _copy(self._rows, self._host, pairs, self.block_size)

    def restore_blocks(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks, (host block, device block), back."""
        if pairs:
            _copy(self._host, self._rows, pairs, self.block_size)

    def gather(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Read slots `[B, L]` back as keys and values, each `[B, num_kv_heads, L, head_dim]`."""
        rows = self._rows[layer].index_select(0, slots.flatten()).view(self._dtype)
        keys, values = rows.view(*slots.shape, *self._heads_shape).unbind(dim=2)
        return keys.transpose(1, 2), values.transpose(1, 2)


def _copy(
    sources: Sequence[Tensor], destinations: Sequence[Tensor], pairs: Sequence[tuple[int, int]], size: int
) -> None:
    """Copy blocks of `size` rows from one store to the other, layer by layer."""
    slots = torch.tensor(pairs)[:, :, None] * size + torch.arange(size)
    read, written = slots[:, 0].flatten(), slots[:, 1].flatten()
    for source, destination in zip(sources, destinations, strict=True):
        rows = source.index_select(0, read.to(source.device))
        destination.index_copy_(0, written.to(destination.device), rows.to(destination.device))
