"""The two-sided check of a pool's books: is every block in one place, and does every reference have a holder?

Owns the comparison only. It changes nothing and repairs nothing. Invariant: no fault makes up for another
one, for each block is looked at by itself (case K06).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


def audit_blocks(
    free: Sequence[int], references: Sequence[int], tables: Iterable[Sequence[int]]
) -> dict[int, int]:
    """What is wrong with each block, by block id; empty when the books are right. O(blocks + tables).

    Args:
        free: ids of the blocks that can be handed out.
        references: how many references each block has, by id.
        tables: the block tables of all holders.

    A positive number says that a block is counted too often, so that two may get it; a negative one that it
    is lost (a leak). A block must stand in one place: in `free`, or referenced. Where it does, every
    reference must have a holder.
    """
    places = Counter(free)
    holders = Counter(block_id for table in tables for block_id in table)
    faults = {}
    for block_id, count in enumerate(references):
        excess = places[block_id] + (count > 0) - 1
        if excess == 0:
            excess = holders[block_id] - count
        if excess != 0:
            faults[block_id] = excess
    return faults
