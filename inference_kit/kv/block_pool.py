"""The pool of KV blocks: who holds which block, counted by references (A15, B5).

Owns block ids and their reference counts. It does not know requests or tokens: `KVManager` does.
Invariant: a block is either in the free list with count 0, or outside it with count >= 1.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from ..errors import IntegrityError, InvalidField, OutOfBlocks
from ..sampling import check_int, is_int


class BlockPool:
    """`num_blocks` blocks of `block_size` token slots each. Ids are 0 .. num_blocks − 1.

    Every operation is all or nothing: on an error nothing has changed.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        check_int("num_blocks", num_blocks, 1)
        check_int("block_size", block_size, 1)
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = deque(range(num_blocks))
        self._references = [0] * num_blocks

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    def references(self, block_id: int) -> int:
        """How many holders a block has."""
        self._check_ids([block_id])
        return self._references[block_id]

    def allocate(self, n: int) -> list[int]:
        """Take `n` free blocks, each with one reference. Raises `OutOfBlocks` and takes none. O(n)."""
        check_int("n", n, 0)
        if n > len(self._free):
            raise OutOfBlocks(f"{n} blocks asked for, {len(self._free)} of {self.num_blocks} are free")
        ids = [self._free.popleft() for _ in range(n)]
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids: Iterable[int]) -> None:
        """Add one reference to each block; a free block cannot be retained."""
        blocks = list(ids)
        self._check_held(blocks)
        for block_id in blocks:
            self._references[block_id] += 1

    def free(self, ids: Iterable[int]) -> None:
        """Drop one reference from each block; the last one puts it back into the free list.

        Raises `IntegrityError` for a block that has fewer references than are dropped (double free).
        """
        blocks = list(ids)
        self._check_held(blocks)
        for block_id, drops in Counter(blocks).items():
            if drops > self._references[block_id]:
                raise IntegrityError(f"block {block_id} is freed more often than it is held")
        for block_id in blocks:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                self._free.append(block_id)

    def check_integrity(self, held: Iterable[Sequence[int]] | None = None) -> None:
        """Raise `IntegrityError` unless free + held == all, both ways.

        Args:
            held: the block tables of all holders; with it every reference must have a holder.
        """
        free = set(self._free)
        if len(free) != len(self._free):
            raise IntegrityError("a block stands in the free list twice")
        for block_id in range(self.num_blocks):
            count = self._references[block_id]
            if (count == 0) != (block_id in free):
                where = "free" if count else "lost"
                raise IntegrityError(f"block {block_id} has {count} references and is {where}")
        if held is None:
            return
        counted = [0] * self.num_blocks
        for table in held:
            self._check_ids(list(table))
            for block_id in table:
                counted[block_id] += 1
        for block_id, (have, want) in enumerate(zip(self._references, counted, strict=True)):
            if have != want:
                raise IntegrityError(f"block {block_id} has {have} references, its holders make {want}")

    def _check_ids(self, ids: list[int]) -> None:
        for block_id in ids:
            if not (is_int(block_id) and 0 <= block_id < self.num_blocks):
                raise InvalidField("block id", block_id, f"a whole number in 0..{self.num_blocks - 1}")

    def _check_held(self, ids: list[int]) -> None:
        self._check_ids(ids)
        for block_id in ids:
            if self._references[block_id] == 0:
                raise IntegrityError(f"block {block_id} is free: it has no reference to add to or drop")
