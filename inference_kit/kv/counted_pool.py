"""The plain pool of blocks: a stack of free ids and a count of references for each block (A15, B5).

Owns block ids and counts. It knows nothing of contents: `PlainBlockPool` adds what the prefix cache needs.
Invariant: every block is free, or it has one reference or more; never both, never neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..errors import IntegrityError, OutOfBlocks


class CountedPool:
    """`num_blocks` blocks of `block_size` token slots each. Ids are 0 .. num_blocks − 1.

    Every operation is all or nothing: on an error nothing has changed. Each costs O(1) for a block.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.num_blocks = num_blocks
        self.block_size = block_size
        # A stack with 0 on top: the block freed last is handed out first.
        self._free = list(range(num_blocks - 1, -1, -1))
        self._references = [0] * num_blocks

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    def references(self, block_id: int) -> int:
        """How many holders a block has. Raises `IntegrityError` for an id outside the pool."""
        if not 0 <= block_id < self.num_blocks:
            raise IntegrityError(f"block {block_id} is not one of 0..{self.num_blocks - 1}")
        return self._references[block_id]

    def allocate(self, n: int) -> list[int]:
        """Take `n` free blocks, each with one reference. Raises `OutOfBlocks` and takes none."""
        if n > len(self._free):
            raise OutOfBlocks(f"{n} blocks asked for, {len(self._free)} are free")
        ids = [self._free.pop() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids: Sequence[int]) -> None:
        """Add one reference to each block. Raises `IntegrityError` for a free block: nothing to share."""
        for block_id in ids:
            if self.references(block_id) == 0:
                raise IntegrityError(f"block {block_id} is free: it has no contents to share")
        for block_id in ids:
            self._references[block_id] += 1

    def free(self, ids: Sequence[int]) -> None:
        """Drop one reference from each block; without references a block is free again.

        Raises `IntegrityError` for a block with fewer references than are dropped (double free).
        """
        for block_id, drops in Counter(ids).items():
            if drops > self.references(block_id):
                raise IntegrityError(f"block {block_id} is freed more often than it is held")
        for block_id in ids:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)
