"""The pool to read: a plain count of references, and the prefix cache as one more holder.

Owns which kept blocks may be handed out again, and in which order. The counts themselves are those of a
`CountedPool`, or of lab 06's answer. Invariant: a kept block has one reference of the cache's own, so
nobody else's `free` can make it available; it goes back to the counts when its place is needed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..errors import IntegrityError, OutOfBlocks
from ..sampling import check_int
from .audit import audit_blocks
from .block_pool import audit, check_ids
from .counted_pool import CountedPool


class Counting(Protocol):
    """A pool of counts; lab 06's answer plugs in here. See `CountedPool`."""

    @property
    def num_free(self) -> int: ...

    def references(self, block_id: int) -> int: ...

    def allocate(self, n: int) -> list[int]: ...

    def retain(self, ids: Sequence[int]) -> None: ...

    def free(self, ids: Sequence[int]) -> None: ...


class PlainBlockPool:
    """Does what `BlockPool` does, with the books kept by a `Counting` pool. See `Pooling`."""

    def __init__(
        self, num_blocks: int, block_size: int, counts: Callable[[int, int], Counting] = CountedPool
    ) -> None:
        check_int("num_blocks", num_blocks, 1)
        check_int("block_size", block_size, 1)
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.on_evict: Callable[[int], None] | None = None
        self._counts = counts(num_blocks, block_size)
        self._kept: set[int] = set()
        self._evictable: OrderedDict[int, None] = OrderedDict()

    @property
    def num_free(self) -> int:
        """See `Pooling.num_free`."""
        return self._counts.num_free + len(self._evictable)

    @property
    def num_evictable(self) -> int:
        """See `Pooling.num_evictable`."""
        return len(self._evictable)

    def references(self, block_id: int) -> int:
        """See `Pooling.references`. The cache's own reference is not counted."""
        check_ids([block_id], self.num_blocks)
        return self._counts.references(block_id) - (block_id in self._kept)

    def allocate(self, n: int) -> list[int]:
        """See `Pooling.allocate`."""
        check_int("n", n, 0)
        if n > self.num_free:
            raise OutOfBlocks(f"{n} blocks asked for, {self.num_free} of {self.num_blocks} are free")
        while n > self._counts.num_free:
            block_id, _ = self._evictable.popitem(last=False)
            self._kept.discard(block_id)
            self._counts.free([block_id])
            if self.on_evict is not None:
                self.on_evict(block_id)
        return self._counts.allocate(n)

    def retain(self, ids: Iterable[int]) -> None:
        """See `Pooling.retain`."""
        blocks = list(ids)
        check_ids(blocks, self.num_blocks)
        for block_id in blocks:
            if self._counts.references(block_id) == 0:
                raise IntegrityError(f"block {block_id} is free: it has no contents to share")
        self._counts.retain(blocks)
        for block_id in blocks:
            self._evictable.pop(block_id, None)

    def free(self, ids: Iterable[int]) -> None:
        """See `Pooling.free`."""
        blocks = list(ids)
        for block_id, drops in Counter(blocks).items():
            held = self.references(block_id)
            if held == 0:
                raise IntegrityError(f"block {block_id} is free: it has no reference to drop")
            if drops > held:
                raise IntegrityError(f"block {block_id} is freed more often than it is held")
        for block_id in blocks:
            self._counts.free([block_id])
            if block_id in self._kept and self.references(block_id) == 0:
                self._evictable[block_id] = None

    def keep(self, block_id: int) -> None:
        """See `Pooling.keep`."""
        if self.references(block_id) == 0:
            raise IntegrityError(f"block {block_id} is free: it has no contents to keep")
        if block_id not in self._kept:
            self._kept.add(block_id)
            self._counts.retain([block_id])

    def is_kept(self, block_id: int) -> bool:
        """See `Pooling.is_kept`."""
        return block_id in self._kept

    def check_integrity(self, held: Iterable[Sequence[int]] | None = None) -> None:
        """See `Pooling.check_integrity`."""
        references = [self._counts.references(block_id) for block_id in range(self.num_blocks)]
        counted = sum(count > 0 for count in references)
        verdict = audit(self.num_blocks, self._counts.num_free, 0, counted)
        if verdict != "ok":
            raise IntegrityError(f"the books of the pool do not add up: {verdict}")
        if held is None:
            return
        free = [block_id for block_id, count in enumerate(references) if count == 0]
        tables = [*held, sorted(self._kept)]
        check_ids([block_id for table in tables for block_id in table], self.num_blocks)
        for block_id, excess in audit_blocks(free, references, tables).items():
            verdict = audit(0, excess, 0, 0)
            raise IntegrityError(f"block {block_id} has {references[block_id]} references: {verdict}")
