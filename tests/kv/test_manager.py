"""The KV manager: samples of one prompt share its blocks and never write into each other's (case K09)."""

from __future__ import annotations

import pytest

from inference_kit.errors import OutOfBlocks
from inference_kit.kv import BlockPool, KVManager, PrefixCache
from inference_kit.lifecycle import Request


def manager(num_blocks: int = 8, cached: bool = False) -> KVManager:
    pool = BlockPool(num_blocks, 4)
    return KVManager(pool, PrefixCache(pool) if cached else None)


def sample(name: str, prompt: list[int], generated: tuple[int, ...] = ()) -> Request:
    request = Request(name, prompt)
    request.token_ids += generated
    request.family = "family"
    return request


def prefilled(kv: KVManager, name: str, prompt: list[int]) -> Request:
    request = sample(name, prompt)
    kv.admit(request)
    request.num_computed_tokens = len(prompt)
    kv.publish(request)
    return request


def test_a_sample_shares_full_blocks_and_copies_the_part_filled_one() -> None:
    kv = manager()
    first = prefilled(kv, "a", [1, 2, 3, 4, 5, 6])
    second = sample("b", [1, 2, 3, 4, 5, 6])
    kv.admit(second)
    assert second.block_table[0] == first.block_table[0]
    assert second.block_table[1] != first.block_table[1]
    assert second.num_computed_tokens == 5
    assert kv.take_copies() == ((first.block_table[1], second.block_table[1]),)
    assert kv.take_copies() == ()
    kv.check_integrity([first, second])


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("first_ended", [False, True])
def test_a_full_last_block_is_copied_too_since_its_last_token_is_computed_again(
    cached: bool, first_ended: bool
) -> None:
    kv = manager(cached=cached)
    first = prefilled(kv, "a", [1, 2, 3, 4, 5, 6, 7, 8])
    shared = list(first.block_table)
    second = sample("b", [1, 2, 3, 4, 5, 6, 7, 8])
    if first_ended:
        kv.release(first)
    kv.admit(second)
    if not first_ended:
        assert (second.block_table[0], second.num_computed_tokens) == (shared[0], 7)
        assert kv.take_copies() == ((shared[1], second.block_table[1]),)
    else:
        assert second.num_computed_tokens == (4 if cached else 0)
        assert kv.take_copies() == ()
    assert not kv.pool.is_kept(second.block_table[1])
    kv.check_integrity([first, second])


def test_a_last_token_alone_in_its_block_needs_no_copy() -> None:
    kv = manager()
    first = prefilled(kv, "a", [1, 2, 3, 4, 5])
    second = sample("b", [1, 2, 3, 4, 5])
    kv.admit(second)
    assert second.num_computed_tokens == 4
    assert kv.take_copies() == ()
    assert first.block_table[1] != second.block_table[1]


def test_a_resumed_sample_shares_the_whole_prompt_again() -> None:
    kv = manager()
    first = prefilled(kv, "a", [1, 2, 3, 4, 5, 6])
    resumed = sample("b", [1, 2, 3, 4, 5, 6], generated=(9, 9, 9))
    kv.admit(resumed)
    assert resumed.num_computed_tokens == 6
    assert kv.take_copies() == ((first.block_table[1], resumed.block_table[1]),)
    kv.check_integrity([first, resumed])


def test_a_sample_waits_for_the_prefill_of_its_prompt_and_for_nothing_else() -> None:
    kv = manager()
    first = sample("a", [1, 2, 3, 4, 5, 6])
    second = sample("b", [1, 2, 3, 4, 5, 6])
    assert kv.can_admit(second)
    kv.admit(first)
    assert not kv.can_admit(second)
    first.num_computed_tokens = 6
    assert kv.can_admit(second)
    kv.release(first)
    assert kv.can_admit(second)


def test_a_prompt_that_is_not_computed_yet_is_not_shared() -> None:
    kv = manager()
    first, second = sample("a", [1, 2, 3, 4, 5, 6]), sample("b", [1, 2, 3, 4, 5, 6])
    kv.admit(first)
    first.num_computed_tokens = 5
    kv.admit(second)
    assert second.num_computed_tokens == 0
    assert not set(first.block_table) & set(second.block_table)


def test_the_copy_counts_as_a_block_that_is_needed() -> None:
    kv = manager(num_blocks=2)
    first = prefilled(kv, "a", [1, 2, 3, 4, 5, 6])
    second = sample("b", [1, 2, 3, 4, 5, 6])
    assert not kv.can_admit(second)
    with pytest.raises(OutOfBlocks):
        kv.admit(second)
    assert (second.block_table, second.num_computed_tokens) == ([], 0)
    assert kv.take_copies() == ()
    kv.check_integrity([first])


def test_one_sample_that_leaves_breaks_no_other() -> None:
    kv = manager()
    first = prefilled(kv, "a", [1, 2, 3, 4, 5, 6])
    second = sample("b", [1, 2, 3, 4, 5, 6])
    kv.admit(second)
    kept = list(second.block_table)
    kv.release(first)
    assert second.block_table == kept
    assert [kv.pool.references(block) for block in kept] == [1, 1]
    kv.check_integrity([second])
    kv.release(second)
    assert kv.pool.num_free == 8
    kv.check_integrity([])


def test_hits_count_at_the_first_admission_only() -> None:
    kv = manager(cached=True)
    tokens = list(range(1, 10))
    kv.release(prefilled(kv, "a", tokens))
    again = Request("b", tokens)
    kv.admit(again)
    again.admitted_at = 1.0
    kv.release(again)
    kv.admit(again)
    assert (again.num_computed_tokens, again.num_cached_tokens) == (8, 8)
    assert (kv.num_queried_tokens, kv.num_cached_tokens) == (18, 8)
