"""The prefix cache: exact keys, published late, tails out first, two implementations (convention 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from inference_kit.errors import IntegrityError, OutOfBlocks
from inference_kit.kv import BlockPool, Caching, KVManager, PlainPrefixCache, PrefixCache
from inference_kit.lifecycle import Request

BOTH = pytest.mark.parametrize("make_cache", [PrefixCache, PlainPrefixCache])
MakeCache = Callable[[BlockPool], Caching]
SIZE, BLOCKS = 2, 8


class Colliding(int):
    """A token whose hash is that of every other one."""

    def __hash__(self) -> int:
        return 7


def filled(pool: BlockPool, cache: Caching, tokens: Sequence[int], salt: str = "") -> list[int]:
    """Hold blocks for all whole blocks of `tokens`, shared where possible, and publish them."""
    whole = len(tokens) // pool.block_size
    shared = cache.match(tokens, whole, salt)
    pool.retain(shared)
    table = shared + pool.allocate(whole - len(shared))
    cache.publish(tokens, table, 0, whole, salt)
    return table


@BOTH
def test_equal_hashes_are_not_a_hit(make_cache: MakeCache) -> None:
    pool = BlockPool(8, 2)
    cache = make_cache(pool)
    tokens = [Colliding(token) for token in (1, 2, 3, 4)]
    other = [Colliding(token) for token in (1, 2, 4, 3)]
    assert hash(tokens[2]) == hash(other[2])
    table = filled(pool, cache, tokens)
    assert cache.match(tokens, 2) == table
    assert cache.match(other, 2) == table[:1]
    cache.check_integrity()


@BOTH
def test_another_salt_shares_nothing(make_cache: MakeCache) -> None:
    pool = BlockPool(8, 2)
    cache = make_cache(pool)
    mine = filled(pool, cache, [1, 2, 3, 4], "tenant a")
    theirs = filled(pool, cache, [1, 2, 3, 4], "tenant b")
    assert not set(mine) & set(theirs)
    assert cache.match([1, 2, 3, 4], 2, "tenant a") == mine
    assert cache.match([1, 2, 3, 4], 2, "tenant b") == theirs
    assert cache.match([1, 2, 3, 4], 2) == []


@BOTH
def test_equal_blocks_at_another_depth_are_not_a_hit(make_cache: MakeCache) -> None:
    pool = BlockPool(8, 2)
    cache = make_cache(pool)
    filled(pool, cache, [1, 2, 1, 2])
    assert len(cache.match([1, 2, 1, 2, 1, 2], 3)) == 2


@BOTH
def test_the_first_block_of_equal_contents_stays_and_nobody_publishes_below_a_double(
    make_cache: MakeCache,
) -> None:
    pool = BlockPool(8, 2)
    cache = make_cache(pool)
    first, second = pool.allocate(1), pool.allocate(2)
    cache.publish([1, 2], first, 0, 1)
    cache.publish([1, 2, 3, 4], second, 0, 2)
    assert cache.match([1, 2, 3, 4], 2) == first
    # The holder of a child would otherwise not hold the child's parent.
    pool.free(first)
    cache.check_integrity()
    pool.check_integrity([second])


@BOTH
def test_a_parent_is_never_evicted_before_its_children(make_cache: MakeCache) -> None:
    pool = BlockPool(4, 2)
    cache = make_cache(pool)
    tokens = [1, 2, 3, 4, 5, 6, 7, 8]
    pool.free(reversed(filled(pool, cache, tokens)))
    for left in (3, 2, 1, 0):
        pool.allocate(1)
        assert len(cache.match(tokens, 4)) == left
        cache.check_integrity()


@BOTH
def test_the_least_recently_used_prefix_goes_first(make_cache: MakeCache) -> None:
    pool = BlockPool(2, 2)
    cache = make_cache(pool)
    for tokens in ([1, 2], [3, 4], [1, 2]):
        pool.free(filled(pool, cache, tokens))
    pool.allocate(1)
    assert (len(cache.match([1, 2], 1)), len(cache.match([3, 4], 1))) == (1, 0)


@BOTH
def test_the_inverse_and_the_parents_are_really_checked(make_cache: MakeCache) -> None:
    pool = BlockPool(4, 2)
    cache = make_cache(pool)
    table = filled(pool, cache, [1, 2, 3, 4])
    broken: dict[object, int] = cache._block_of  # type: ignore[attr-defined]
    key = cache._key_of[table[0]]  # type: ignore[attr-defined]
    broken[key] = table[1]
    with pytest.raises(IntegrityError, match="inverse"):
        cache.check_integrity()
    broken[key] = table[0]
    cache.check_integrity()
    pool._kept.discard(table[1])
    with pytest.raises(IntegrityError, match="disagree on its contents"):
        cache.check_integrity()
    pool._kept.add(table[1])
    cache._forget(table[0])  # type: ignore[attr-defined]
    pool._kept.discard(table[0])
    with pytest.raises(IntegrityError, match="outlived its parent"):
        cache.check_integrity()


class Side:
    """One manager over one kind of cache, with a store that remembers what each slot holds."""

    def __init__(self, make_cache: MakeCache) -> None:
        self.pool = BlockPool(BLOCKS, SIZE)
        self.kv = KVManager(self.pool, make_cache(self.pool))
        self.requests: list[Request] = []
        self.slots: dict[int, tuple[int, str, int]] = {}

    def slot(self, request: Request, position: int) -> int:
        return request.block_table[position // SIZE] * SIZE + position % SIZE

    def copy_blocks(self) -> None:
        copies = self.kv.take_copies()
        destinations = [destination for _, destination in copies]
        assert len(set(destinations)) == len(destinations)
        assert not set(destinations) & {source for source, _ in copies}
        for source, destination in copies:
            for offset in range(SIZE):
                self.slots[destination * SIZE + offset] = self.slots.get(source * SIZE + offset, (0, "", 0))

    def compute(self, request: Request, count: int) -> None:
        """What a step does: copies first, then `count` tokens are written, then the blocks are published."""
        self.copy_blocks()
        start = request.num_computed_tokens
        for position in range(start, start + count):
            block = request.block_table[position // SIZE]
            assert self.pool.references(block) == 1
            assert not self.pool.is_kept(block)
            wrote = (request.token_ids[position], request.cache_salt, position)
            self.slots[self.slot(request, position)] = wrote
        request.num_computed_tokens += count
        self.kv.publish(request)

    def check(self) -> None:
        self.kv.check_integrity(self.requests)
        assert self.kv.cache is not None
        assert len(self.kv.cache) <= BLOCKS
        for request in self.requests:
            for position in range(request.num_computed_tokens):
                wanted = (request.token_ids[position], request.cache_salt, position)
                assert self.slots[self.slot(request, position)] == wanted


class CacheMachine(RuleBasedStateMachine):
    """Random requests live on two managers that differ in the cache only; both must do the same, and right.

    The model is the store: each position of each request must hold what that request wrote or would have.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sides = [Side(PrefixCache), Side(PlainPrefixCache)]
        self.made = 0

    def alike(self, answers: list[object]) -> object:
        assert answers[0] == answers[1]
        return answers[0]

    def choose(self, data: st.DataObject, good: Callable[[Request], bool]) -> int | None:
        places = [i for i, request in enumerate(self.sides[0].requests) if good(request)]
        return data.draw(st.sampled_from(places)) if places else None

    def admit(self, tokens: list[int], salt: str, family: str | None, prompt: int) -> None:
        admitted = []
        for side in self.sides:
            request = Request(f"r{self.made}", tokens[:prompt])
            request.token_ids = list(tokens)
            request.cache_salt, request.family = salt, family
            before = [side.pool.references(block) for block in range(BLOCKS)]
            able = side.kv.can_admit(request)
            assert before == [side.pool.references(block) for block in range(BLOCKS)]
            if able:
                side.kv.admit(request)
                side.requests.append(request)
                cached = request.num_computed_tokens
                assert cached <= (len(tokens) - 1 if family else (len(tokens) - 1) // SIZE * SIZE)
                side.copy_blocks()
            admitted.append((able, request.num_computed_tokens, list(request.block_table)))
        self.alike(list(admitted))
        self.made += 1

    @rule(tokens=st.lists(st.integers(0, 1), min_size=1, max_size=9), salt=st.sampled_from(["", "b"]))
    def arrive(self, tokens: list[int], salt: str) -> None:
        self.admit(tokens, salt, None, len(tokens))

    @rule(tokens=st.lists(st.integers(0, 1), min_size=1, max_size=7), prefilled=st.booleans())
    def arrive_as_family(self, tokens: list[int], prefilled: bool) -> None:
        self.admit(tokens, "", f"family {self.made}", len(tokens))
        for side in self.sides:
            if prefilled and side.requests and side.requests[-1].request_id == f"r{self.made - 1}":
                side.compute(side.requests[-1], side.requests[-1].num_uncomputed_tokens)

    @rule(data=st.data(), extra=st.lists(st.integers(0, 1), max_size=2))
    @precondition(lambda self: any(request.family for request in self.sides[0].requests))
    def fork(self, data: st.DataObject, extra: list[int]) -> None:
        place = self.choose(data, lambda request: request.family is not None)
        source = self.sides[0].requests[place or 0]
        prompt = list(source.prompt_token_ids)
        self.admit(prompt + extra, "", source.family, len(prompt))

    @rule(data=st.data())
    def compute(self, data: st.DataObject) -> None:
        place = self.choose(data, lambda request: request.num_uncomputed_tokens > 0)
        if place is not None:
            count = data.draw(st.integers(1, self.sides[0].requests[place].num_uncomputed_tokens))
            for side in self.sides:
                side.compute(side.requests[place], count)

    @rule(data=st.data(), token=st.integers(0, 1))
    def generate(self, data: st.DataObject, token: int) -> None:
        place = self.choose(data, lambda request: request.num_uncomputed_tokens == 0)
        if place is None:
            return
        for side in self.sides:
            request = side.requests[place]
            request.token_ids.append(token)
            if side.kv.can_grow(request, len(request.token_ids)):
                side.kv.grow(request, len(request.token_ids))
                side.copy_blocks()
            else:
                table = list(request.block_table)
                with pytest.raises(OutOfBlocks):
                    side.kv.grow(request, len(request.token_ids))
                assert request.block_table == table
                request.token_ids.pop()

    @rule(data=st.data())
    @precondition(lambda self: self.sides[0].requests)
    def leave(self, data: st.DataObject) -> None:
        place = self.choose(data, lambda request: True)
        for side in self.sides:
            side.kv.release(side.requests.pop(place))

    @rule(tokens=st.lists(st.integers(0, 1), max_size=10), salt=st.sampled_from(["", "b"]))
    def look_up(self, tokens: list[int], salt: str) -> None:
        hits = self.alike([side.kv.cache.match(tokens, 5, salt) for side in self.sides])  # type: ignore[union-attr]
        side = self.sides[0]
        assert isinstance(hits, list)
        for position in range(len(hits) * SIZE):
            slot = hits[position // SIZE] * SIZE + position % SIZE
            assert side.slots[slot] == (tokens[position], salt, position)

    @invariant()
    def both_are_right_and_alike(self) -> None:
        for side in self.sides:
            side.check()
        self.alike([len(side.kv.cache) for side in self.sides])  # type: ignore[arg-type]
        self.alike([[request.block_table for request in side.requests] for side in self.sides])


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
