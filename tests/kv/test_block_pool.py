"""Both block pools: all or nothing, counted by references, least recently used out first (A15, B5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from inference_kit.errors import IntegrityError, InvalidField, OutOfBlocks
from inference_kit.kv import BlockPool, CountedPool, PlainBlockPool, Pooling
from inference_kit.kv.block_pool import audit

BLOCKS = 7
Make = Callable[[int, int], Pooling]
both_pools = pytest.mark.parametrize("make", [BlockPool, PlainBlockPool])


class PoolMachine(RuleBasedStateMachine):
    """Holders take, share, keep and drop blocks in any order; the pool must agree with a plain model."""

    make: Make = BlockPool

    def __init__(self) -> None:
        super().__init__()
        self.pool = type(self).make(BLOCKS, 4)
        self.tables: list[list[int]] = []
        self.kept: set[int] = set()
        self.oldest_first: OrderedDict[int, None] = OrderedDict()
        self.evicted: list[int] = []
        self.pool.on_evict = self.evicted.append

    @property
    def held(self) -> set[int]:
        return {block for table in self.tables for block in table}

    @rule(n=st.integers(0, BLOCKS + 2))
    def allocate(self, n: int) -> None:
        before = self.pool.num_free
        if n > before:
            with pytest.raises(OutOfBlocks):
                self.pool.allocate(n)
            assert self.pool.num_free == before
            return
        empty = BLOCKS - len(self.held) - len(self.oldest_first)
        table = self.pool.allocate(n)
        assert len(set(table)) == n
        assert not self.held & set(table)
        expected = [self.oldest_first.popitem(last=False)[0] for _ in range(max(0, n - empty))]
        assert self.evicted == expected
        self.kept.difference_update(expected)
        self.evicted.clear()
        self.tables.append(table)

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def share(self, data: st.DataObject) -> None:
        table = data.draw(st.sampled_from(self.tables))
        part = table[: data.draw(st.integers(0, len(table)))]
        self.pool.retain(part)
        self.tables.append(list(part))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        block = data.draw(st.sampled_from(sorted(self.held)))
        self.pool.keep(block)
        self.kept.add(block)

    @precondition(lambda self: self.oldest_first)
    @rule(data=st.data())
    def hit(self, data: st.DataObject) -> None:
        block = data.draw(st.sampled_from(sorted(self.oldest_first)))
        self.pool.retain([block])
        del self.oldest_first[block]
        self.tables.append([block])

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        table = self.tables.pop(data.draw(st.integers(0, len(self.tables) - 1)))
        self.pool.free(table)
        for block in table:
            if block in self.kept and block not in self.held:
                self.oldest_first[block] = None

    @invariant()
    def regions_are_those_of_the_model(self) -> None:
        self.pool.check_integrity(self.tables)
        assert self.pool.num_free == BLOCKS - len(self.held)
        assert self.pool.num_evictable == len(self.oldest_first)
        assert {block for block in range(BLOCKS) if self.pool.is_kept(block)} == self.kept


class PlainPoolMachine(PoolMachine):
    make = PlainBlockPool


TestPoolMachine = PoolMachine.TestCase
TestPlainPoolMachine = PlainPoolMachine.TestCase


@both_pools
def test_double_free_is_refused_and_changes_nothing(make: Make) -> None:
    pool = make(4, 2)
    table = pool.allocate(2)
    with pytest.raises(IntegrityError, match="more often"):
        pool.free([table[0], table[1], table[1]])
    pool.check_integrity([table])
    pool.free(table)
    with pytest.raises(IntegrityError, match="is free"):
        pool.free(table[:1])
    pool.check_integrity([])


@both_pools
@pytest.mark.parametrize("block", [-1, 4, True, 1.0, "0"])
def test_an_id_outside_the_pool_is_named(make: Make, block: object) -> None:
    for refused in (make(4, 2).free, make(4, 2).retain):
        with pytest.raises(InvalidField, match="block id"):
            refused([block])  # type: ignore[list-item]


@both_pools
def test_an_empty_block_can_be_neither_shared_nor_kept(make: Make) -> None:
    pool = make(4, 2)
    held = pool.allocate(1)
    for refused in (lambda: pool.retain([held[0], 3]), lambda: pool.keep(3)):
        with pytest.raises(IntegrityError, match="is free"):
            refused()
    pool.check_integrity([held])


@both_pools
def test_a_leak_and_a_double_count_are_both_found_and_told_apart(make: Make) -> None:
    pool = make(4, 2)
    table = pool.allocate(2)
    with pytest.raises(IntegrityError, match=r"deficit -1 \(leak\)"):
        pool.check_integrity([])
    with pytest.raises(IntegrityError, match=r"excess \+1 \(double counted\)"):
        pool.check_integrity([table, table])


def test_lost_and_doubled_blocks_of_the_regions_are_told_apart() -> None:
    lost, doubled = BlockPool(4, 2), BlockPool(4, 2)
    lost._available.pop()
    with pytest.raises(IntegrityError, match=r"deficit -1 \(leak\)"):
        lost.check_integrity()
    doubled._available.append(0)
    with pytest.raises(IntegrityError, match=r"excess \+1 \(double counted\)"):
        doubled.check_integrity()


def test_counts_that_lose_or_double_a_block_are_found_out() -> None:
    class Loses(CountedPool):
        def free(self, ids: object) -> None:
            super().free(ids)  # type: ignore[arg-type]
            self._free.clear()

    class Doubles(CountedPool):
        def retain(self, ids: object) -> None:
            self._free.extend(ids)  # type: ignore[call-overload]

    lost, doubled = PlainBlockPool(4, 2, Loses), PlainBlockPool(4, 2, Doubles)
    lost.free(lost.allocate(1))
    with pytest.raises(IntegrityError, match="leak"):
        lost.check_integrity()
    doubled.retain(doubled.allocate(1))
    with pytest.raises(IntegrityError, match="double counted"):
        doubled.check_integrity()


def test_the_audit_is_two_sided() -> None:
    assert audit(10, 3, 4, 3) == "ok"
    assert audit(10, 3, 4, 5) == "excess +2 (double counted)"
    assert audit(10, 3, 4, 2) == "deficit -1 (leak)"
