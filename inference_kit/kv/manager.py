"""Which blocks a request holds, and which of them it shares. The bridge from requests to the `BlockPool`.

Owns the growth, sharing and release of block tables. It does not choose who gets blocks: the scheduler
does. Invariants: a table has just enough blocks for the positions it was grown to; nobody writes into
a block that somebody else holds too; a failed question changes nothing.

Shared blocks come from two places: the prefix cache (whole blocks of equal tokens, convention 11) and, for
n > 1, a sample of the same prompt, which also shares its last, partly filled block. The newcomer gets a
copy of that one before it writes (copy-on-write): `take_copies` hands the pairs to the step's plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import OutOfBlocks
from ..lifecycle.request import Request
from .offload import HostStore, Pairs
from .pooling import Pooling
from .prefix_cache import Caching
from .table import blocks_for, prepare_write, shared_writes


@dataclass(frozen=True)
class Reuse:
    """What a request can take over instead of computing it."""

    blocks: Sequence[int] = ()
    """Block ids to share, from position 0 on."""
    num_tokens: int = 0
    """Tokens whose keys and values they hold; not a multiple of the block size after a fork."""
    from_cache: bool = True
    from_host: bool = False
    """True for the request's own contents, kept in host memory: they need blocks of their own."""


class KVManager:
    """Grows, shares and frees the block tables of requests, out of one pool.

    Args:
        pool: the blocks.
        cache: reuse between requests; None: only the samples of one prompt share.
        host: room for what preempted requests had computed; None: they compute it again.
    """

    def __init__(self, pool: Pooling, cache: Caching | None = None, host: HostStore | None = None) -> None:
        self.pool = pool
        self.cache = cache
        self.host = host
        self.num_queried_tokens = 0
        """Prompt tokens of first admissions, and of those the ones found in the cache."""
        self.num_cached_tokens = 0
        self._block_size = pool.block_size
        self._families: dict[str, list[Request]] = {}
        self._copies: dict[int, int] = {}

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks needed to store `num_tokens` tokens."""
        return blocks_for(num_tokens, self._block_size)

    def missing_blocks(self, request: Request, num_tokens: int) -> int:
        """Blocks that `request` still lacks to store `num_tokens` tokens, copies of shared ones included."""
        lacking = max(0, self.blocks_for(num_tokens) - len(request.block_table))
        return lacking + len(self._shared_writes(request, num_tokens))

    def can_grow(self, request: Request, num_tokens: int, keep_free: int = 0) -> bool:
        """True when `grow` would succeed and leave at least `keep_free` blocks free."""
        return self.missing_blocks(request, num_tokens) + keep_free <= self.pool.num_free

    def grow(self, request: Request, num_tokens: int) -> None:
        """Make room to write up to position `num_tokens` − 1. Raises `OutOfBlocks` and changes nothing.

        New blocks extend the table; a block that must not be written is replaced by a copy of its own.
        """
        start = request.num_computed_tokens
        table, copies = prepare_write(self.pool, request.block_table, start, num_tokens)
        # In place: the table of decodes holds this very list.
        request.block_table[:] = table
        self._copies.update((destination, source) for source, destination in copies)

    def can_admit(self, request: Request, keep_free: int = 0) -> bool:
        """True when `admit` would succeed and leave at least `keep_free` blocks free. Changes nothing.

        Hits that nobody holds are not counted as free space too (case K02). A sample waits while a
        sample of its prompt is being prefilled: then there is something to share.
        """
        if self._prefilling(request):
            return False
        return self._cost(request, self._find_reuse(request)) + keep_free <= self.pool.num_free

    def admit(self, request: Request) -> None:
        """Give a request without blocks what can be shared, and room for all its known tokens.

        Sets `block_table` and `num_computed_tokens`; at the first admission also `num_cached_tokens`.
        Raises `OutOfBlocks` and changes nothing.
        """
        reuse = self._find_reuse(request)
        cost = self._cost(request, reuse)
        if cost > self.pool.num_free:
            raise OutOfBlocks(f"{cost} blocks needed, {self.pool.num_free} are free")
        self.pool.retain(reuse.blocks)
        request.block_table = list(reuse.blocks)
        request.num_computed_tokens = reuse.num_tokens
        self.grow(request, len(request.token_ids))
        if self.host is not None:
            if reuse.from_host:
                self.host.load(request)
            self.host.drop(request)
        if request.family is not None:
            self._families.setdefault(request.family, []).append(request)
        if self.cache is not None and reuse.from_cache:
            request.num_published_blocks = len(reuse.blocks)
            self._count_first(request, reuse.num_tokens)

    def publish(self, request: Request) -> None:
        """Offer the full blocks that are computed by now for reuse. Call it after a step, never before.

        Blocks of generated tokens are offered too. O(1) when no block was filled.
        """
        start, end = request.num_published_blocks, request.num_computed_tokens // self._block_size
        if self.cache is None or start >= end:
            return
        self.cache.publish(request.token_ids, request.block_table, start, end, request.cache_salt)
        request.num_published_blocks = end

    def take_copies(self) -> tuple[tuple[int, int], ...]:
        """(source, destination) block pairs to copy before the step computes anything; then forgotten.

        All sources are to be read before any destination is written; no destination occurs twice.
        """
        if not self._copies:
            return ()
        copies, self._copies = self._copies, {}
        return tuple((source, destination) for destination, source in copies.items())

    def offload(self, request: Request) -> None:
        """Keep what a request has computed in host memory, where there is room. Call it before `release`."""
        if self.host is not None:
            # A copy of this very step has not been made yet: its source has the contents.
            self.host.save(request, lambda block_id: self._copies.get(block_id, block_id))

    def forget_offloaded(self, request: Request) -> None:
        """Give up what host memory keeps of a request: it has ended, or the step that moved it failed."""
        if self.host is not None:
            self.host.drop(request)

    def take_offloads(self) -> Pairs:
        """See `HostStore.take_saves`."""
        return () if self.host is None else self.host.take_saves()

    def take_restores(self) -> Pairs:
        """See `HostStore.take_loads`."""
        return () if self.host is None else self.host.take_loads()

    def grow_each(self, requests: Sequence[Request]) -> bool:
        """One more block for each of `requests`. False when too few are free; then nothing changes."""
        if len(requests) > self.pool.num_free:
            return False
        for request, block_id in zip(requests, self.pool.allocate(len(requests)), strict=True):
            request.block_table.append(block_id)
        return True

    def release(self, request: Request) -> None:
        """Drop the request's references, tails first. Its computed tokens are gone with them.

        Published contents stay for later hits until their blocks are needed: also after a cancel (A9).
        """
        blocks, request.block_table = request.block_table, []
        request.num_computed_tokens = 0
        request.num_published_blocks = 0
        self._leave_family(request)
        self.pool.free(reversed(blocks))

    def check_integrity(self, requests: Iterable[Request]) -> None:
        """Raise `IntegrityError` unless references and the tables of `requests` agree (C1)."""
        held = list(requests)
        self.pool.check_integrity(request.block_table for request in held)
        if self.cache is not None:
            self.cache.check_integrity()
        if self.host is not None:
            self.host.check_integrity(request.host_blocks for request in held)

    def _family(self, request: Request) -> list[Request]:
        """Samples of the same prompt that hold blocks now."""
        return [] if request.family is None else self._families.get(request.family, [])

    def _leave_family(self, request: Request) -> None:
        if request.family is None or request not in self._family(request):
            return
        self._families[request.family].remove(request)
        if not self._families[request.family]:
            del self._families[request.family]

    def _count_first(self, request: Request, num_cached_tokens: int) -> None:
        """Hits count at the first admission only: a resumed request meets its own blocks again."""
        if request.admitted_at is None:
            request.num_cached_tokens = num_cached_tokens
            self.num_queried_tokens += len(request.prompt_token_ids)
            self.num_cached_tokens += num_cached_tokens

    def _cost(self, request: Request, reuse: Reuse) -> int:
        """Free blocks that an admission uses up: new ones, a copy of a part-filled one, free hits."""
        shared = 0 if reuse.from_host else reuse.num_tokens // self._block_size
        needed = self.blocks_for(len(request.token_ids)) - shared
        return needed + sum(self.pool.references(block_id) == 0 for block_id in reuse.blocks)

    def _find_reuse(self, request: Request) -> Reuse:
        """The most that can be shared. At least the last known token is left to compute (convention 11)."""
        most = len(request.token_ids) - 1
        best = Reuse()
        if self.cache is not None:
            blocks = self.cache.match(request.token_ids, most // self._block_size, request.cache_salt)
            best = Reuse(blocks, len(blocks) * self._block_size)
        usable = min(len(request.prompt_token_ids), most)
        for other in self._family(request):
            if other.num_computed_tokens >= len(request.prompt_token_ids) and usable > best.num_tokens:
                best = Reuse(other.block_table[: self.blocks_for(usable)], usable, from_cache=False)
        if min(request.num_host_tokens, most) > best.num_tokens:
            best = Reuse((), request.num_host_tokens, from_cache=False, from_host=True)
        return best

    def _prefilling(self, request: Request) -> bool:
        """True while samples of the same prompt hold blocks and none has computed the prompt yet."""
        if request.host_blocks:
            return False
        family = self._family(request)
        needed = len(request.prompt_token_ids)
        return bool(family) and all(other.num_computed_tokens < needed for other in family)

    def _shared_writes(self, request: Request, num_tokens: int) -> list[int]:
        """Places in the table of blocks that the next write would touch and must not.

        Only samples of one prompt ever share a block that is still to be written.
        """
        if request.family is None:
            return []
        return shared_writes(self.pool, request.block_table, request.num_computed_tokens, num_tokens)
