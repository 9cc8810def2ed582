"""A picture's view of the pool as plain data: who holds which block now.

Owns the form of the snapshot. It takes no reference and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .pooling import Pooling


def block_snapshot(
    pool: Pooling, tables: Mapping[str, Sequence[int]], num_tokens: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The state of a pool.

    Args:
        tables: block table by the name of its holder.
        num_tokens: tokens whose keys and values each holder has written.

    Returns num_blocks, block_size, references (by block id), kept (block ids), tables and num_tokens.
    """
    blocks = range(pool.num_blocks)
    return {
        "num_blocks": pool.num_blocks,
        "block_size": pool.block_size,
        "references": [pool.references(block_id) for block_id in blocks],
        "kept": [block_id for block_id in blocks if pool.is_kept(block_id)],
        "tables": {name: list(table) for name, table in tables.items()},
        "num_tokens": dict(num_tokens or {}),
    }
