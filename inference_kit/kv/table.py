"""Block tables as arithmetic: how many slots and blocks, which slot, which blocks must be copied first.

Owns the rules that need no state: tables and numbers in, numbers out. It hands out no block: the pool
does; `prepare_write` only asks it. Invariant: whatever is written goes to slots of the writer's own blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..errors import IntegrityError


class Lender(Protocol):
    """What `prepare_write` asks of a pool."""

    block_size: int

    def references(self, block_id: int) -> int:
        """How many holders a block has."""
        ...

    def allocate(self, n: int) -> list[int]:
        """Take `n` free blocks, or raise `OutOfBlocks` and take none."""
        ...

    def free(self, ids: Sequence[int]) -> None:
        """Drop one reference from each block."""
        ...


def slots_needed(num_prompt_tokens: int, num_output_tokens: int) -> int:
    """KV slots that a whole answer takes: the last token is sampled and never written (convention 10).

    `num_output_tokens` is at least 1.
    """
    return num_prompt_tokens + num_output_tokens - 1


def blocks_for(num_tokens: int, block_size: int) -> int:
    """Blocks needed to store `num_tokens` tokens; the last one may be part-filled."""
    return -(-num_tokens // block_size)


def longest_total(num_blocks: int, block_size: int) -> int:
    """The most tokens, prompt and output together, that a pool can carry for one request (convention 10)."""
    return num_blocks * block_size + 1


def slot_mapping(block_table: Sequence[int], start: int, end: int, block_size: int) -> list[int]:
    """The slots of positions `start` .. `end` − 1, one for each.

    Raises `IntegrityError` for a position that the table does not cover: its slot belongs to somebody else.
    """
    if start < 0 or end > len(block_table) * block_size:
        covered = len(block_table) * block_size
        raise IntegrityError(f"positions {start}..{end - 1} are not all in the table of {covered} slots")
    return [
        block_table[position // block_size] * block_size + position % block_size
        for position in range(start, end)
    ]


def shared_writes(pool: Lender, block_table: Sequence[int], start: int, end: int) -> list[int]:
    """Places in the table of blocks that a write to `start` .. `end` − 1 touches and that others hold too."""
    touched = range(start // pool.block_size, -(-end // pool.block_size))
    return [
        index for index in touched if index < len(block_table) and pool.references(block_table[index]) > 1
    ]


def prepare_write(
    pool: Lender, block_table: Sequence[int], start: int, end: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Make positions `start` .. `end` − 1 safe to write (copy-on-write, A15).

    Returns the new table and the (source, destination) blocks to copy before anything is written. A shared
    block that the write touches is replaced by one of our own; missing blocks are added at the end.
    Raises `OutOfBlocks` and changes nothing. O(blocks that the write touches).
    """
    table, copies = list(block_table), []
    shared = shared_writes(pool, table, start, end)
    missing = max(0, -(-end // pool.block_size) - len(table))
    blocks = pool.allocate(len(shared) + missing)
    for index in shared:
        copies.append((table[index], blocks[0]))
        table[index] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies
