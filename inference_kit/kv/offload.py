"""Where preempted requests may keep their keys and values: blocks in host memory.

Owns the host blocks and the pairs of blocks to move. It moves no data: the runner does, by the plan. What
finds no room here is computed again instead. Invariants: a request has host blocks only while it waits; a
block that is to be read in a step is not handed out again in that step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..lifecycle.request import Request
from .block_pool import BlockPool

Pairs = tuple[tuple[int, int], ...]


class HostStore:
    """Host blocks of one engine.

    Args:
        num_blocks: blocks in host memory, as large as those of the device pool.
        block_size: tokens in a block.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self._pool = BlockPool(num_blocks, block_size)
        self._saves: list[tuple[int, int]] = []
        self._loads: list[tuple[int, int]] = []
        self.num_saved_blocks = 0
        """Blocks moved out, and blocks moved back, since the start."""
        self.num_loaded_blocks = 0

    def save(self, request: Request, contents_of: Callable[[int], int]) -> None:
        """Keep what a request has computed, if there is room for all of it. Call it before its release.

        Args:
            request: about to lose its device blocks.
            contents_of: the device block that has the contents of a block before the step begins.
        """
        count = -(-request.num_computed_tokens // self._pool.block_size)
        self.drop(request)
        if not count or count > self._pool.num_free:
            return
        request.host_blocks = self._pool.allocate(count)
        request.num_host_tokens = request.num_computed_tokens
        device = map(contents_of, request.block_table)
        self._saves += zip(device, request.host_blocks, strict=False)
        self.num_saved_blocks += count

    def load(self, request: Request) -> None:
        """Move the kept contents into the first blocks of the request's new table."""
        self._loads += zip(request.host_blocks, request.block_table, strict=False)
        self.num_loaded_blocks += len(request.host_blocks)
        self.drop(request)

    def drop(self, request: Request) -> None:
        """Forget what is kept of a request. A second call changes nothing."""
        blocks, request.host_blocks, request.num_host_tokens = request.host_blocks, [], 0
        self._pool.free(blocks)

    def take_saves(self) -> Pairs:
        """(device block, host block) pairs to copy before anything else in the step; then forgotten."""
        saves, self._saves = self._saves, []
        return tuple(saves)

    def take_loads(self) -> Pairs:
        """(host block, device block) pairs to copy after the saves and before all other work."""
        loads, self._loads = self._loads, []
        return tuple(loads)

    @property
    def num_free(self) -> int:
        return self._pool.num_free

    @property
    def num_blocks(self) -> int:
        return self._pool.num_blocks

    def check_integrity(self, held: Iterable[Sequence[int]]) -> None:
        """Raise `IntegrityError` unless the host blocks are just those in `held`."""
        self._pool.check_integrity(held)
