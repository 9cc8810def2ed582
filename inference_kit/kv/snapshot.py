"""A picture's view of the pool as plain data: who holds which block now.

Owns the form of the snapshot. It takes no reference and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Counted(Protocol):
    """The least that a pool says of its blocks."""

    num_blocks: int
    block_size: int

    def references(self, block_id: int) -> int:
        """How many holders a block has."""
        ...


def block_snapshot(
    pool: Counted, tables: Mapping[str, Sequence[int]], num_tokens: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The state of a pool.

    Args:
        pool: a `Pooling`, or one without kept contents, such as a `CountedPool`.
        tables: block table by the name of its holder.
        num_tokens: tokens whose keys and values each holder has written.

    Returns num_blocks, block_size, references (by block id), kept (block ids), tables and num_tokens.
    """
    blocks = range(pool.num_blocks)
    is_kept = getattr(pool, "is_kept", None)
    return {
        "num_blocks": pool.num_blocks,
        "block_size": pool.block_size,
        "references": [pool.references(block_id) for block_id in blocks],
        "kept": [] if is_kept is None else [block_id for block_id in blocks if is_kept(block_id)],
        "tables": {name: list(table) for name, table in tables.items()},
        "num_tokens": dict(num_tokens or {}),
    }
