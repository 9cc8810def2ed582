"""Which blocks hold the keys and values of which tokens: reuse of computed prefixes (convention 11).

Owns the table from contents to block. It holds no reference: the pool says who holds a block, and tells
when a kept one is handed out for new contents; that block leaves the table at once. Invariants: the
table and its inverse agree; it has at most one entry for each block; an entry's parent is in the table
too; keys are compared token by token, so equal hashes alone are never a hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..errors import IntegrityError
from .pooling import Pooling

Key = tuple[int, str, tuple[int, ...]]
"""Serial number of the parent, salt, tokens of the block."""


class Caching(Protocol):
    """What the `KVManager` asks of a prefix cache; lab 07's answer plugs in here."""

    def __len__(self) -> int:
        """Blocks in the table."""
        ...

    def match(self, token_ids: Sequence[int], max_blocks: int, salt: str = "") -> list[int]:
        """Blocks of the longest cached prefix of `token_ids`, in order, at most `max_blocks`.

        Takes no reference and changes nothing. Prefixes of another `salt` never match.
        """
        ...

    def publish(
        self, token_ids: Sequence[int], block_table: Sequence[int], start: int, end: int, salt: str = ""
    ) -> None:
        """Offer blocks `start` .. `end` − 1 of a held table, all full and computed, for reuse.

        A block is taken only below its holder's own parent block: so whoever holds a cached block
        holds its parents, and with tails freed first no parent is ever evicted before its children.
        Where the same contents are in the table already, the first block stays.
        """
        ...

    def check_integrity(self) -> None:
        """Raise `IntegrityError` when an invariant of the table is broken."""
        ...


class PrefixCache:
    """The fast one: a chain of keys (parent, salt, tokens of one block). O(1) for a block.

    A parent is named by the serial number of its entry, which is never used again. So a key says the
    whole prefix exactly, while only the tokens of one block are hashed and compared.
    """

    ROOT = 0

    def __init__(self, pool: Pooling) -> None:
        self._pool = pool
        self._size = pool.block_size
        self._block_of: dict[Key, int] = {}
        self._key_of: dict[int, Key] = {}
        self._serial_of: dict[int, int] = {}
        self._last_serial = self.ROOT
        pool.on_evict = self._forget

    def __len__(self) -> int:
        return len(self._block_of)

    def match(self, token_ids: Sequence[int], max_blocks: int, salt: str = "") -> list[int]:
        """See `Caching.match`."""
        blocks: list[int] = []
        parent = self.ROOT
        for index in range(min(max_blocks, len(token_ids) // self._size)):
            block_id = self._block_of.get(self._key(parent, salt, token_ids, index))
            if block_id is None:
                break
            blocks.append(block_id)
            parent = self._serial_of[block_id]
        return blocks

    def publish(
        self, token_ids: Sequence[int], block_table: Sequence[int], start: int, end: int, salt: str = ""
    ) -> None:
        """See `Caching.publish`."""
        for index in range(start, end):
            parent = self._serial_of.get(block_table[index - 1]) if index else self.ROOT
            if parent is None:
                return
            block_id = block_table[index]
            key = self._key(parent, salt, token_ids, index)
            if self._block_of.setdefault(key, block_id) != block_id:
                return
            if block_id not in self._key_of:
                self._last_serial += 1
                self._key_of[block_id] = key
                self._serial_of[block_id] = self._last_serial
                self._pool.keep(block_id)

    def check_integrity(self) -> None:
        """See `Caching.check_integrity`."""
        _check_inverse(self._block_of, self._key_of, self._pool)
        serials = {self.ROOT, *self._serial_of.values()}
        if self._serial_of.keys() != self._key_of.keys() or len(serials) != len(self._serial_of) + 1:
            raise IntegrityError("a cached block has no serial number of its own")
        for block_id, (parent, _, _) in self._key_of.items():
            if parent not in serials:
                raise IntegrityError(f"cached block {block_id} has outlived its parent")

    def _key(self, parent: int, salt: str, token_ids: Sequence[int], index: int) -> Key:
        return parent, salt, tuple(token_ids[index * self._size : (index + 1) * self._size])

    def _forget(self, block_id: int) -> None:
        del self._block_of[self._key_of.pop(block_id)]
        del self._serial_of[block_id]


class PlainPrefixCache:
    """The one to read: a dictionary from (salt, all tokens up to the block's end) to the block.

    A prompt of n tokens costs O(n² / block_size), since each block's key repeats what is before it.
    """

    def __init__(self, pool: Pooling) -> None:
        self._pool = pool
        self._block_of: dict[tuple[str, tuple[int, ...]], int] = {}
        self._key_of: dict[int, tuple[str, tuple[int, ...]]] = {}
        pool.on_evict = self._forget

    def __len__(self) -> int:
        return len(self._block_of)

    def match(self, token_ids: Sequence[int], max_blocks: int, salt: str = "") -> list[int]:
        """See `Caching.match`."""
        blocks: list[int] = []
        while len(blocks) < min(max_blocks, len(token_ids) // self._pool.block_size):
            block_id = self._block_of.get(self._key(token_ids, len(blocks) + 1, salt))
            if block_id is None:
                break
            blocks.append(block_id)
        return blocks

    def publish(
        self, token_ids: Sequence[int], block_table: Sequence[int], start: int, end: int, salt: str = ""
    ) -> None:
        """See `Caching.publish`."""
        for index in range(start, end):
            block_id, key = block_table[index], self._key(token_ids, index + 1, salt)
            if index and block_table[index - 1] not in self._key_of:
                return
            if self._block_of.setdefault(key, block_id) != block_id:
                return
            if block_id not in self._key_of:
                self._key_of[block_id] = key
                self._pool.keep(block_id)

    def check_integrity(self) -> None:
        """See `Caching.check_integrity`."""
        _check_inverse(self._block_of, self._key_of, self._pool)
        for block_id, (salt, token_ids) in self._key_of.items():
            parent = (salt, token_ids[: -self._pool.block_size])
            if parent[1] and parent not in self._block_of:
                raise IntegrityError(f"cached block {block_id} has outlived its parent")

    def _key(self, token_ids: Sequence[int], num_blocks: int, salt: str) -> tuple[str, tuple[int, ...]]:
        return salt, tuple(token_ids[: num_blocks * self._pool.block_size])

    def _forget(self, block_id: int) -> None:
        del self._block_of[self._key_of.pop(block_id)]


def _check_inverse(block_of: Mapping[Any, int], key_of: Mapping[int, Any], pool: Pooling) -> None:
    """Contents → block and block → contents must be inverse, and the pool must keep just these."""
    if len(block_of) != len(key_of) or any(block_of.get(key) != block for block, key in key_of.items()):
        raise IntegrityError("the table of contents and its inverse disagree")
    for block_id in range(pool.num_blocks):
        if pool.is_kept(block_id) != (block_id in key_of):
            raise IntegrityError(f"block {block_id}: the pool and the prefix cache disagree on its contents")
