"""Block tables: slots of positions, blocks of tokens, and copies before a shared block is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit.errors import IntegrityError, OutOfBlocks
from inference_kit.kv import (
    BlockPool,
    CountedPool,
    PlainBlockPool,
    audit_blocks,
    blocks_for,
    longest_total,
    prepare_write,
    slot_mapping,
    slots_needed,
)


@given(st.integers(1, 90), st.integers(1, 40), st.integers(1, 12), st.integers(1, 16))
def test_an_answer_fits_just_when_its_total_is_at_most_the_longest(
    prompt: int, outputs: int, num_blocks: int, block_size: int
) -> None:
    fits = blocks_for(slots_needed(prompt, outputs), block_size) <= num_blocks
    assert fits == (prompt + outputs <= longest_total(num_blocks, block_size))


@given(st.permutations(range(6)), st.integers(1, 5), st.data())
def test_every_position_has_a_slot_of_its_own_in_its_own_block(
    table: list[int], size: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, 6 * size))
    end = data.draw(st.integers(start, 6 * size))
    slots = slot_mapping(table, start, end, size)
    assert len(set(slots)) == end - start
    assert [slot // size for slot in slots] == [table[position // size] for position in range(start, end)]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 9), (8, 9)])
def test_a_position_outside_the_table_has_no_slot(start: int, end: int) -> None:
    with pytest.raises(IntegrityError, match="8 slots"):
        slot_mapping([5, 2], start, end, 4)


@pytest.mark.parametrize("make", [BlockPool, PlainBlockPool, CountedPool])
def test_only_the_shared_block_that_is_written_is_copied(make: type[BlockPool]) -> None:
    pool = make(8, 4)
    table = pool.allocate(2)
    pool.retain(table)
    own, copies = prepare_write(pool, table, 5, 9)
    assert own[0] == table[0] and len(own) == 3
    assert copies == [(table[1], own[1])]
    assert [pool.references(block) for block in table] == [2, 1]
    assert [pool.references(block) for block in own] == [2, 1, 1]


def test_a_write_that_lacks_one_block_changes_nothing() -> None:
    pool = CountedPool(3, 4)
    table = pool.allocate(2)
    pool.retain(table)
    with pytest.raises(OutOfBlocks):
        prepare_write(pool, table, 7, 9)
    assert (pool.num_free, [pool.references(block) for block in table]) == (1, [2, 2])


def test_the_counted_pool_refuses_foreign_ids_by_name() -> None:
    pool = CountedPool(3, 4)
    pool.allocate(3)
    for refused in (pool.free, pool.retain):
        for block in (-1, 3):
            with pytest.raises(IntegrityError, match="not one of"):
                refused([0, block])
    assert [pool.references(block) for block in range(3)] == [1, 1, 1]


def test_each_fault_of_the_books_is_named_at_its_block() -> None:
    # 0 is fine; 1 is free and held; 2 is lost; 3 leaks a reference; 4 has one too few; 5 is free twice.
    assert audit_blocks([1, 5, 5], [1, 1, 0, 2, 1, 0], [[0, 1], [3, 4], [4]]) == {
        1: 1,
        2: -1,
        3: -1,
        4: 1,
        5: 1,
    }
