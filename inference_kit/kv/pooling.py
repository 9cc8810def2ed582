"""What a pool of KV blocks must be able to do. `BlockPool` and `PlainBlockPool` both do it.

Owns the promises, no code. Lab 06's answer takes the place of the counts inside `PlainBlockPool`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol


class Pooling(Protocol):
    """`num_blocks` blocks of `block_size` token slots each. Ids are 0 .. num_blocks − 1.

    Every operation is all or nothing: on an error nothing has changed. Each costs O(1) for a block (B5).
    """

    num_blocks: int
    block_size: int
    on_evict: Callable[[int], None] | None
    """Called with a kept block at the moment it is handed out for new contents (case K01)."""

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds; those with kept contents count too."""
        ...

    @property
    def num_evictable(self) -> int:
        """Blocks that nobody holds and whose contents are kept for a later hit."""
        ...

    def references(self, block_id: int) -> int:
        """How many holders a block has."""
        ...

    def allocate(self, n: int) -> list[int]:
        """Take `n` free blocks, each with one reference. Raises `OutOfBlocks` and takes none.

        Kept contents go last, the least recently used first; `on_evict` hears of each.
        """
        ...

    def retain(self, ids: Iterable[int]) -> None:
        """Add one reference to each block. A block without contents cannot be shared: `IntegrityError`."""
        ...

    def free(self, ids: Iterable[int]) -> None:
        """Drop one reference from each block, in this order; the last one makes the block free.

        Raises `IntegrityError` for a block that has fewer references than are dropped (double free).
        """
        ...

    def keep(self, block_id: int) -> None:
        """The contents of a held block are final and worth keeping; they stay until it is handed out."""
        ...

    def is_kept(self, block_id: int) -> bool:
        """True while the contents are kept: nobody may write into such a block."""
        ...

    def check_integrity(self, held: Iterable[Sequence[int]] | None = None) -> None:
        """Raise `IntegrityError` unless every block is in one place, and every reference has a holder.

        Args:
            held: the block tables of all holders; None: look at the places only.
        """
        ...
