"""The block pool: all or nothing, counted by references, checked both ways (A15)."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from inference_kit.errors import IntegrityError, InvalidField, OutOfBlocks
from inference_kit.kv import BlockPool

BLOCKS = 7


class PoolMachine(RuleBasedStateMachine):
    """Holders take, share and drop blocks in any order; the pool must agree with a plain count."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = BlockPool(BLOCKS, 4)
        self.tables: list[list[int]] = []

    @rule(n=st.integers(0, BLOCKS + 2))
    def allocate(self, n: int) -> None:
        before = self.pool.num_free
        if n > before:
            with pytest.raises(OutOfBlocks):
                self.pool.allocate(n)
            assert self.pool.num_free == before
            return
        table = self.pool.allocate(n)
        assert len(set(table)) == n
        self.tables.append(table)

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def share(self, data: st.DataObject) -> None:
        table = data.draw(st.sampled_from(self.tables))
        part = table[: data.draw(st.integers(0, len(table)))]
        self.pool.retain(part)
        self.tables.append(list(part))

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        table = self.tables.pop(data.draw(st.integers(0, len(self.tables) - 1)))
        self.pool.free(table)

    @invariant()
    def references_are_those_of_the_holders(self) -> None:
        self.pool.check_integrity(self.tables)
        held = {block for table in self.tables for block in table}
        assert self.pool.num_free == BLOCKS - len(held)


TestPoolMachine = PoolMachine.TestCase


def test_double_free_is_refused_and_changes_nothing() -> None:
    pool = BlockPool(4, 2)
    table = pool.allocate(2)
    with pytest.raises(IntegrityError, match="more often"):
        pool.free([table[0], table[1], table[1]])
    pool.check_integrity([table])
    pool.free(table)
    with pytest.raises(IntegrityError, match="is free"):
        pool.free(table[:1])
    pool.check_integrity([])


@pytest.mark.parametrize("block", [-1, 4, True, 1.0, "0"])
def test_an_id_outside_the_pool_is_named(block: object) -> None:
    with pytest.raises(InvalidField, match="block id"):
        BlockPool(4, 2).free([block])  # type: ignore[list-item]


def test_a_leak_and_a_double_count_are_both_found() -> None:
    pool = BlockPool(4, 2)
    table = pool.allocate(2)
    with pytest.raises(IntegrityError):
        pool.check_integrity([])
    with pytest.raises(IntegrityError):
        pool.check_integrity([table, table])
