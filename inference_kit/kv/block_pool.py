"""The pool of KV blocks: who holds which block, counted by references (A15, B5).

Owns block ids, their reference counts and the order in which they are handed out again. It does not know
requests or tokens: `KVManager` and the prefix cache do. Invariant: every block stands in just one region,

    available            evictable                       held
    nobody holds it,     nobody holds it, its contents   one reference or more
    no contents worth    are in the prefix cache; oldest
    keeping              first out

    allocate: available, then the oldest evictable -> held        retain: evictable -> held
    free (last reference): held -> evictable if kept, else available

so available + evictable + held == num_blocks at any time, both ways.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence

from ..errors import IntegrityError, InvalidField, OutOfBlocks
from ..sampling import check_int, is_int
from .audit import audit_blocks


def audit(total: int, available: int, evictable: int, held: int) -> str:
    """Compare the regions with the size of the pool; the sign tells which bug it is (case K06).

    Returns "ok", "excess +n (double counted)" or "deficit -n (leak)", in blocks.
    """
    difference = available + evictable + held - total
    if difference > 0:
        return f"excess +{difference} (double counted)"
    if difference < 0:
        return f"deficit {difference} (leak)"
    return "ok"


def check_ids(ids: Iterable[int], num_blocks: int) -> None:
    """Refuse an id that no block of the pool has. Raises `InvalidField`."""
    for block_id in ids:
        if not (is_int(block_id) and 0 <= block_id < num_blocks):
            raise InvalidField("block id", block_id, f"a whole number in 0..{num_blocks - 1}")


class BlockPool:
    """The fast one. `num_blocks` blocks of `block_size` token slots each. Ids are 0 .. num_blocks − 1.

    Every operation is all or nothing: on an error nothing has changed. Each costs O(1) for a block.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        check_int("num_blocks", num_blocks, 1)
        check_int("block_size", block_size, 1)
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.on_evict: Callable[[int], None] | None = None
        """Called with a kept block at the moment it is handed out for new contents (case K01)."""
        # A stack: the block freed last is the one still warm in the processor's caches.
        self._available = list(range(num_blocks - 1, -1, -1))
        self._evictable: OrderedDict[int, None] = OrderedDict()
        self._references = [0] * num_blocks
        self._kept: set[int] = set()

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds: available and evictable ones."""
        return len(self._available) + len(self._evictable)

    @property
    def num_evictable(self) -> int:
        """Blocks that nobody holds and whose contents are kept for a later hit."""
        return len(self._evictable)

    def references(self, block_id: int) -> int:
        """How many holders a block has."""
        self._check_ids([block_id])
        return self._references[block_id]

    def allocate(self, n: int) -> list[int]:
        """Take `n` free blocks, each with one reference. Raises `OutOfBlocks` and takes none. O(n).

        Kept contents go last, the least recently used first; `on_evict` hears of each.
        """
        check_int("n", n, 0)
        if n > self.num_free:
            raise OutOfBlocks(f"{n} blocks asked for, {self.num_free} of {self.num_blocks} are free")
        ids = [self._available.pop() for _ in range(min(n, len(self._available)))]
        for _ in range(n - len(ids)):
            ids.append(self._evict())
        for block_id in ids:
            self._references[block_id] = 1
        return ids

    def retain(self, ids: Iterable[int]) -> None:
        """Add one reference to each block. An available block has nothing to share: `IntegrityError`."""
        blocks = list(ids)
        self._check_ids(blocks)
        for block_id in blocks:
            if self._references[block_id] == 0 and block_id not in self._evictable:
                raise IntegrityError(f"block {block_id} is free: it has no contents to share")
        for block_id in blocks:
            self._evictable.pop(block_id, None)
            self._references[block_id] += 1

    def free(self, ids: Iterable[int]) -> None:
        """Drop one reference from each block, in this order; the last one makes the block free.

        Among kept blocks the one freed first is handed out first, so free tails first (convention 11).
        Raises `IntegrityError` for a block that has fewer references than are dropped (double free).
        """
        blocks = list(ids)
        self._check_ids(blocks)
        for block_id, drops in Counter(blocks).items():
            if self._references[block_id] == 0:
                raise IntegrityError(f"block {block_id} is free: it has no reference to drop")
            if drops > self._references[block_id]:
                raise IntegrityError(f"block {block_id} is freed more often than it is held")
        for block_id in blocks:
            self._references[block_id] -= 1
            if self._references[block_id] == 0:
                if block_id in self._kept:
                    self._evictable[block_id] = None
                else:
                    self._available.append(block_id)

    def keep(self, block_id: int) -> None:
        """The contents of a held block are final and worth keeping; they stay until it is handed out.

        Raises `IntegrityError` for a block that nobody holds.
        """
        if self.references(block_id) == 0:
            raise IntegrityError(f"block {block_id} is free: it has no contents to keep")
        self._kept.add(block_id)

    def is_kept(self, block_id: int) -> bool:
        """True while the contents are kept: nobody may write into such a block."""
        return block_id in self._kept

    def check_integrity(self, held: Iterable[Sequence[int]] | None = None) -> None:
        """Raise `IntegrityError` unless available + evictable + held == all, both ways (`audit`).

        Args:
            held: the block tables of all holders; with it every reference must have a holder.
        """
        counted = sum(count > 0 for count in self._references)
        verdict = audit(self.num_blocks, len(self._available), len(self._evictable), counted)
        if verdict != "ok":
            raise IntegrityError(f"the regions of the pool do not add up: {verdict}")
        self._check_regions()
        if held is not None:
            self._check_holders(held)

    def _evict(self) -> int:
        block_id, _ = self._evictable.popitem(last=False)
        self._kept.discard(block_id)
        if self.on_evict is not None:
            self.on_evict(block_id)
        return block_id

    def _check_regions(self) -> None:
        available = set(self._available)
        for block_id, count in enumerate(self._references):
            regions = (block_id in available) + (block_id in self._evictable) + (count > 0)
            if regions != 1:
                raise IntegrityError(f"block {block_id} stands in {regions} regions, {count} references")
            if (block_id in self._kept) and block_id in available:
                raise IntegrityError(f"block {block_id} is kept, yet it may be handed out as empty")
            if (block_id in self._evictable) and block_id not in self._kept:
                raise IntegrityError(f"block {block_id} is evictable, yet its contents are not kept")

    def _check_holders(self, held: Iterable[Sequence[int]]) -> None:
        blocks = [block_id for table in held for block_id in table]
        self._check_ids(blocks)
        free = [*self._available, *self._evictable]
        for block_id, excess in audit_blocks(free, self._references, [blocks]).items():
            count, verdict = self._references[block_id], audit(0, excess, 0, 0)
            raise IntegrityError(
                f"block {block_id} has {count} references, its holders make {count + excess}: {verdict}"
            )

    def _check_ids(self, ids: list[int]) -> None:
        check_ids(ids, self.num_blocks)
