"""Which blocks a request holds. The bridge between requests and the `BlockPool`.

Owns the growth and the release of block tables. It does not choose who gets blocks: the scheduler
does. Invariant: a table has just enough blocks for the positions it was grown to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..lifecycle.request import Request
from .block_pool import BlockPool


class KVManager:
    """Grows and frees the block tables of requests, out of one pool."""

    def __init__(self, pool: BlockPool) -> None:
        self.pool = pool

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks needed to store `num_tokens` tokens."""
        return -(-num_tokens // self.pool.block_size)

    def missing_blocks(self, request: Request, num_tokens: int) -> int:
        """Blocks that `request` still lacks to store `num_tokens` tokens."""
        return max(0, self.blocks_for(num_tokens) - len(request.block_table))

    def can_grow(self, request: Request, num_tokens: int, keep_free: int = 0) -> bool:
        """True when `grow` would succeed and leave at least `keep_free` blocks free."""
        return self.missing_blocks(request, num_tokens) + keep_free <= self.pool.num_free

    def grow(self, request: Request, num_tokens: int) -> None:
        """Extend the table to store `num_tokens` tokens. Raises `OutOfBlocks` and changes nothing."""
        request.block_table.extend(self.pool.allocate(self.missing_blocks(request, num_tokens)))

    def grow_each(self, requests: Sequence[Request]) -> bool:
        """One more block for each of `requests`. False when too few are free; then nothing changes."""
        if len(requests) > self.pool.num_free:
            return False
        for request, block_id in zip(requests, self.pool.allocate(len(requests)), strict=True):
            request.block_table.append(block_id)
        return True

    def release(self, request: Request) -> None:
        """Drop the request's references. Its computed tokens are gone with them."""
        blocks, request.block_table = request.block_table, []
        request.num_computed_tokens = 0
        self.pool.free(blocks)

    def check_integrity(self, requests: Iterable[Request]) -> None:
        """Raise `IntegrityError` unless references and the tables of `requests` agree (C1)."""
        self.pool.check_integrity(request.block_table for request in requests)
