"""Checks of lab 06 (paged KV). `make labs` copies the visible ones into the kit.

Every check tests what an answer does, never how. Hidden checks draw their cases from the seed and compare
with the kit's reference; `oracle.py` computes the same in another way, and a test holds the two against
each other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from inference_kit.errors import KitError
from inference_kit.kv import CountedPool, audit_blocks, blocks_for, slot_mapping
from inference_kit.labs.checking import (
    Callback,
    CallbackRaises,
    CheckSet,
    Handle,
    Subject,
    expect,
    expect_raises,
    fail,
)

CHECKS = CheckSet("lab06")

HIDDEN_MODULES = ("inference_kit.kv",)
"""Modules under study: an answer cannot import them in the judge."""

# --- q1: how many slots, how many blocks --------------------------------------------------------------


@CHECKS.check(
    "q1",
    1,
    misconception="the last token of an answer is sampled and never computed, so it needs no slot",
    rows=("slots_needed(60, 5)", "slots_needed(60, 1)"),
)
def last_token_writes_nothing(s: Subject, rng: random.Random) -> None:
    for prompt, outputs, slots in ((60, 5, 64), (60, 1, 60), (1, 1, 1), (7, 100, 106)):
        expect(s.call("slots_needed", prompt, outputs), slots, given=f"slots_needed({prompt}, {outputs})")


@CHECKS.check(
    "q1",
    1,
    misconception="tokens that fill their blocks exactly need no further block",
    rows=("blocks_for(64, 16)", "blocks_for(0, 16)"),
)
def full_blocks_are_enough(s: Subject, rng: random.Random) -> None:
    for tokens, size, blocks in ((64, 16, 4), (0, 16, 0), (16, 16, 1), (5, 1, 5), (128, 32, 4)):
        expect(s.call("blocks_for", tokens, size), blocks, given=f"blocks_for({tokens}, {size})")


@CHECKS.check(
    "q1",
    1,
    misconception="one token in a block takes the whole block: round up, not to the nearest",
    rows=("blocks_for(65, 16)",),
)
def a_started_block_counts_whole(s: Subject, rng: random.Random) -> None:
    for tokens, size, blocks in ((65, 16, 5), (1, 16, 1), (17, 16, 2), (63, 16, 4), (33, 32, 2)):
        expect(s.call("blocks_for", tokens, size), blocks, given=f"blocks_for({tokens}, {size})")


@CHECKS.check(
    "q1",
    1,
    misconception="prompt and answer together may be one token longer than the slots: the last one is not stored",
    rows=("longest_total(4, 16)",),
)
def one_token_more_than_slots(s: Subject, rng: random.Random) -> None:
    for blocks, size, total in ((4, 16, 65), (1, 1, 2), (3, 5, 16)):
        expect(s.call("longest_total", blocks, size), total, given=f"longest_total({blocks}, {size})")


@CHECKS.check("q1", 1, visible=False, misconception="a block may have any size, not only a power of two")
def any_block_size(s: Subject, rng: random.Random) -> None:
    for _ in range(20):
        size = rng.choice([3, 5, 6, 7, 12, 20, 24, 48])
        tokens = size * rng.randint(0, 40) + size - 1
        expect(s.call("blocks_for", tokens, size), blocks_for(tokens, size))


# --- q2: from positions to slots ------------------------------------------------------------------------


def slots(s: Subject, table: Sequence[int], start: int, end: int, size: int) -> Any:
    return s.call("slot_mapping", list(table), start, end, size)


def expect_slots(s: Subject, table: Sequence[int], start: int, end: int, size: int, wanted: Any) -> None:
    expect(
        slots(s, table, start, end, size),
        wanted,
        given=f"slot_mapping({list(table)}, {start}, {end}, {size})",
    )


@CHECKS.check(
    "q2",
    1,
    misconception="positions count from 0, and position 0 has a slot like every other one",
    rows=("slot_mapping([7, 2], 0, 3, 4)",),
)
def positions_count_from_zero(s: Subject, rng: random.Random) -> None:
    expect_slots(s, [7, 2], 0, 3, 4, [28, 29, 30])
    expect_slots(s, [5], 0, 1, 4, [20])


@CHECKS.check(
    "q2",
    1,
    misconception="the next block of a request is the next entry of its table, not the next block of the pool",
    rows=("slot_mapping([7, 2], 2, 6, 4)",),
)
def blocks_come_from_the_table(s: Subject, rng: random.Random) -> None:
    expect_slots(s, [7, 2], 2, 6, 4, [30, 31, 8, 9])
    expect_slots(s, [6, 5, 0], 3, 9, 4, [27, 20, 21, 22, 23, 0])
    expect_slots(s, [4, 1], 5, 6, 4, [5])


@CHECKS.check(
    "q2",
    1,
    misconception="from 4 up to 4 there is no position, so there is no slot",
    rows=("slot_mapping([7, 2], 4, 4, 4)",),
)
def an_empty_range_has_no_slots(s: Subject, rng: random.Random) -> None:
    for at in (4, 1):
        expect_slots(s, [7, 2], at, at, 4, [])


@CHECKS.check(
    "q2",
    1,
    misconception="a position behind the table has no slot; any number you return belongs to somebody else",
    rows=("slot_mapping([7, 2], 6, 9, 4)",),
)
def positions_behind_the_table_refused(s: Subject, rng: random.Random) -> None:
    for table, start, end in (([7, 2], 6, 9), ([7, 2], 8, 9), ([], 0, 1), ([7, 2], 0, 40)):
        given = f"slot_mapping({table}, {start}, {end}, 4)"
        expect_raises(partial(slots, s, table, start, end, 4), "IntegrityError", given=given)


@CHECKS.check(
    "q2",
    1,
    misconception="Python counts a negative index from the end: -1 silently becomes the last block",
    rows=("slot_mapping([7, 2], -1, 2, 4)",),
)
def negative_positions_refused(s: Subject, rng: random.Random) -> None:
    for start, end in ((-1, 2), (-4, -2)):
        given = f"slot_mapping([7, 2], {start}, {end}, 4)"
        expect_raises(partial(slots, s, [7, 2], start, end, 4), "IntegrityError", given=given)


@CHECKS.check(
    "q2", 1, visible=False, misconception="the last slot of the last block is still inside the table"
)
def the_last_slot_is_inside(s: Subject, rng: random.Random) -> None:
    for _ in range(8):
        size = rng.choice([1, 2, 4, 8])
        table = sorted(rng.sample(range(20), rng.randint(2, 4)))
        end = len(table) * size
        start = rng.randrange(1, end)
        expect(slots(s, table, start, end, size), slot_mapping(table, start, end, size))


@CHECKS.check("q2", 1, visible=False, misconception="a block may have any size, not only a power of two")
def slots_of_any_block_size(s: Subject, rng: random.Random) -> None:
    for _ in range(12):
        size = rng.choice([3, 5, 6, 7, 12])
        table = sorted(rng.sample(range(30), rng.randint(2, 6)))
        start = rng.randrange(1, size)
        end = rng.randrange(start + 1, len(table) * size)
        expect(slots(s, table, start, end, size), slot_mapping(table, start, end, size))


# --- q3: the pool ---------------------------------------------------------------------------------------


class Pool:
    """A learner's pool, with its counts in plain words for messages."""

    def __init__(self, s: Subject, num_blocks: int = 4) -> None:
        self.s = s
        self.num_blocks = num_blocks
        self.handle: Handle = s.new("BlockPool", num_blocks, 16)

    def allocate(self, n: int) -> list[int]:
        ids = self.s.method(self.handle, "allocate", n)
        if not isinstance(ids, (list, tuple)) or not all(type(block) is int for block in ids):
            fail("allocate must return a list of block ids", given=f"allocate({n})", got=ids)
        return list(ids)

    def retain(self, ids: Sequence[int]) -> Any:
        return self.s.method(self.handle, "retain", list(ids))

    def free(self, ids: Sequence[int]) -> Any:
        return self.s.method(self.handle, "free", list(ids))

    def references(self, block: int) -> Any:
        return self.s.method(self.handle, "references", block)

    @property
    def num_free(self) -> Any:
        return self.s.attr(self.handle, "num_free")

    @property
    def state(self) -> tuple[Any, list[Any]]:
        """(num_free, the references of every block)."""
        return self.num_free, [self.references(block) for block in range(self.num_blocks)]

    def expect_refused(self, action: Any, error: str, given: str) -> None:
        """The action raises `error` and leaves every count as it was."""
        before = self.state
        expect_raises(action, error, given=given)
        expect(self.state, before, given=given, note="(num_free, references of each block) after the refusal")


@CHECKS.check(
    "q3",
    1,
    misconception="each block that is handed out has one reference and leaves the free ones; no block is no error",
    rows=("allocate(2)", "allocate(0)"),
)
def allocate_hands_out_free_blocks(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    given = "a pool of 4: allocate(2)"
    first = pool.allocate(2)
    if len(first) != 2 or len(set(first)) != 2 or not set(first) <= set(range(4)):
        fail("two different ids out of 0..3 were expected", given=given, got=first)
    expect([pool.references(block) for block in first], [1, 1], given=given, note="references")
    expect(pool.num_free, 2, given=given, note="num_free")
    expect(pool.allocate(0), [], given="allocate(0)")
    second = pool.allocate(2)
    expect(sorted(first + second), [0, 1, 2, 3], given="a pool of 4: allocate(2), allocate(2)")
    expect(pool.num_free, 0, given="all four blocks allocated", note="num_free")


@CHECKS.check(
    "q3",
    1,
    misconception="all or nothing: a request that gets half of its blocks can neither run nor be forgotten",
    rows=("allocate(3), and 2 are free",),
)
def allocate_all_or_nothing(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    pool.allocate(2)
    pool.expect_refused(partial(pool.allocate, 3), "OutOfBlocks", "a pool of 4 with 2 free: allocate(3)")
    expect(len(pool.allocate(2)), 2, given="then allocate(2)", note="number of blocks")
    pool.expect_refused(partial(pool.allocate, 1), "OutOfBlocks", "a pool of 4 with 0 free: allocate(1)")


@CHECKS.check(
    "q3",
    1,
    misconception="retain adds one reference, however many there are already",
    rows=("retain(ids)",),
)
def retain_adds_one(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    first, second = pool.allocate(2)
    for count in (2, 3, 4):
        pool.retain([first])
        expect(pool.references(first), count, given=f"{count - 1} × retain([b])", note="references of b")
    expect(pool.references(second), 1, given="only b was retained", note="references of another block")
    expect(pool.num_free, 2, given="a pool of 4, 2 allocated, one of them retained", note="num_free")


@CHECKS.check(
    "q3",
    1,
    misconception="a cancel drops one reference: the block of the others must not be handed out again",
    rows=("free(ids), and another holder is left",),
)
def one_holder_leaves_the_other_keeps(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    table = pool.allocate(2)
    pool.retain(table)
    pool.free(table)
    given = "a pool of 4: two holders share 2 blocks, and one of them frees both"
    expect([pool.references(block) for block in table], [1, 1], given=given, note="references")
    expect(pool.num_free, 2, given=given, note="num_free")
    others = pool.allocate(2)
    if set(others) & set(table):
        fail("allocate hands out a block that the other holder still uses", given=given, got=others)


@CHECKS.check(
    "q3",
    1,
    misconception="with its last reference a block is free again, also one that was shared in between",
    rows=("free(ids), and it was the last holder",),
)
def the_last_holder_frees(s: Subject, rng: random.Random) -> None:
    for steps in ("free", "retain, free, free", "retain, free all twice in one call"):
        pool = Pool(s)
        table = pool.allocate(3)
        if "retain" in steps:
            pool.retain(table)
        if steps.endswith("free, free"):
            pool.free(table)
        pool.free(table + table if "twice" in steps else table)
        given = f"a pool of 4: allocate(3), {steps}"
        expect(pool.state, (4, [0, 0, 0, 0]), given=given, note="(num_free, references of each block)")
        expect(sorted(pool.allocate(4)), [0, 1, 2, 3], given=given + ", allocate(4)")


@CHECKS.check(
    "q3",
    1,
    misconception="count the drops of one call together: the same id twice drops two references",
    rows=("free([b, b]), and b has one reference",),
)
def double_free_in_one_call(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    a, b = pool.allocate(2)
    for ids, shown in (([b, b], "free([b, b])"), ([a, b, b], "free([a, b, b])")):
        given = f"a and b have one reference each: {shown}"
        pool.expect_refused(partial(pool.free, ids), "IntegrityError", given)
    pool.retain([b])
    pool.free([b, b])
    expect(pool.references(b), 0, given="b has two references: free([b, b])", note="references of b")


@CHECKS.check(
    "q3",
    1,
    misconception="a second free is a fault of the caller: say so at once, before the block belongs to two",
    rows=("free([b]), and b is free",),
)
def double_free_is_refused(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    a, b = pool.allocate(2)
    pool.free([b])
    pool.expect_refused(partial(pool.free, [b]), "IntegrityError", "b is free already: free([b])")
    never = next(block for block in range(4) if block not in (a, b))
    pool.expect_refused(partial(pool.free, [never]), "IntegrityError", "c was never allocated: free([c])")


@CHECKS.check(
    "q3",
    1,
    misconception="a free block has no contents: there is nothing to share",
    rows=("retain([b]), and b is free",),
)
def a_free_block_cannot_be_shared(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    (held,) = pool.allocate(1)
    free = next(block for block in range(4) if block != held)
    pool.expect_refused(partial(pool.retain, [free]), "IntegrityError", "b is free: retain([b])")


@CHECKS.check(
    "q3",
    1,
    misconception="an id that is not in the pool is a fault; a negative one would silently mean another block",
    rows=("an id outside the pool, such as -1 or 4",),
)
def foreign_ids_are_refused(s: Subject, rng: random.Random) -> None:
    pool = Pool(s)
    pool.allocate(4)
    for block in (-1, 4, -4, 99):
        for name in ("references", "retain", "free"):
            action = partial(getattr(pool, name), block if name == "references" else [block])
            given = f"a pool of 4, all allocated: {name}({block if name == 'references' else [block]})"
            pool.expect_refused(action, "IntegrityError", given)


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="check every id before you change the first one: on an error nothing may have changed",
)
def nothing_changes_on_a_refusal(s: Subject, rng: random.Random) -> None:
    pool = Pool(s, 6)
    held = pool.allocate(3)
    free = [block for block in range(6) if block not in held]
    for _ in range(6):
        ids = [*rng.sample(held, rng.randint(1, 3)), rng.choice(free)]
        pool.expect_refused(partial(pool.retain, ids), "IntegrityError", "")


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="a block lives many lives: it is allocated and freed again and again",
)
def blocks_live_many_lives(s: Subject, rng: random.Random) -> None:
    pool = Pool(s, 5)
    tables: list[list[int]] = []
    for _ in range(60):
        held = sum(map(len, tables))
        if tables and rng.random() < 0.5:
            pool.free(tables.pop(rng.randrange(len(tables))))
        elif held < 5:
            tables.append(pool.allocate(rng.randint(1, 5 - held)))
        blocks = sorted(block for table in tables for block in table)
        expect(len(set(blocks)), len(blocks))
        expect(pool.num_free, 5 - len(blocks))


# --- q4: copy-on-write ------------------------------------------------------------------------------------


class Books:
    """The pool of question 4: the kit's counts, on the check's side.

    Blocks of 4 slots. `shared` are held by two, `own` by one; `num_free` more are free.
    """

    def __init__(self, s: Subject, shared: int, own: int, num_free: int) -> None:
        self.pool = CountedPool(shared + own + num_free, 4)
        self.table = self.pool.allocate(shared + own)
        self.pool.retain(self.table[:shared])
        functions = (self.pool.references, self.pool.allocate, self.free)
        self.s = s
        self.handle = s.new("DemoPool", 4, *(Callback(partial(self._guard, one)) for one in functions))

    def free(self, ids: Any) -> None:
        self.pool.free(list(ids))

    def _guard(self, function: Any, argument: Any) -> Any:
        """The pool's own errors reach the answer as a MemoryError."""
        try:
            return function(argument)
        except KitError as error:
            raise CallbackRaises("MemoryError", str(error)) from None

    def shared_writes(self, start: int, end: int) -> Any:
        return self.s.call("shared_writes", self.handle, self.table, start, end)

    def prepare_write(self, start: int, end: int) -> tuple[list[int], list[tuple[int, int]]]:
        got = self.s.call("prepare_write", self.handle, self.table, start, end)
        if not isinstance(got, (list, tuple)) or len(got) != 2:
            fail("prepare_write returns two things: the table and the copies", got=got)
        table, copies = got
        if not isinstance(table, (list, tuple)) or not isinstance(copies, (list, tuple)):
            fail("prepare_write returns two lists: the table and the copies", got=got)
        return list(table), [tuple(pair) for pair in copies]

    @property
    def counts(self) -> list[int]:
        return [self.pool.references(block) for block in self.table]


def three(s: Subject, num_free: int = 4) -> Books:
    """The table of the contract: two blocks are shared, the third one is our own."""
    return Books(s, 2, 1, num_free)


FIRST_TWO_SHARED = "a table of 3 blocks of 4 slots; the first two are shared"


@CHECKS.check(
    "q4",
    1,
    misconception="a block with one reference is your own: write into it",
    rows=("shared_writes(pool, table, 5, 6)", "shared_writes(pool, table, 8, 9)"),
)
def only_what_others_hold(s: Subject, rng: random.Random) -> None:
    given = f"{FIRST_TWO_SHARED}: shared_writes(pool, table, 5, 6)"
    expect(three(s).shared_writes(5, 6), [1], given=given)
    expect(three(s).shared_writes(8, 9), [], given=given.replace("5, 6", "8, 9"))


@CHECKS.check(
    "q4",
    1,
    misconception="only the blocks that the write touches matter: a shared prefix that is only read stays shared",
    rows=("shared_writes(pool, table, 0, 8)", "shared_writes(pool, table, 3, 4)"),
)
def only_what_the_write_touches(s: Subject, rng: random.Random) -> None:
    for start, end, places in ((0, 8, [0, 1]), (3, 4, [0]), (4, 8, [1]), (3, 5, [0, 1])):
        given = f"{FIRST_TWO_SHARED}: shared_writes(pool, table, {start}, {end})"
        expect(three(s).shared_writes(start, end), places, given=given)


@CHECKS.check(
    "q4",
    1,
    misconception="a place behind the end of the table has no block yet, so there is nothing to copy",
    rows=("shared_writes(pool, table, 12, 14)",),
)
def nothing_to_copy_behind_the_table(s: Subject, rng: random.Random) -> None:
    for start, end in ((12, 14), (13, 21)):
        given = f"{FIRST_TWO_SHARED}: shared_writes(pool, table, {start}, {end})"
        expect(three(s).shared_writes(start, end), [], given=given)


@CHECKS.check(
    "q4",
    1,
    misconception="a copy is (source, destination): the old block is read, the new one is written",
    rows=("prepare_write(pool, table, 5, 6)",),
)
def a_shared_block_is_copied_first(s: Subject, rng: random.Random) -> None:
    books = three(s)
    table, copies = books.prepare_write(5, 6)
    given = f"{FIRST_TWO_SHARED}, its ids are {books.table}: prepare_write(pool, table, 5, 6)"
    if len(table) != 3 or table[1] in books.table:
        fail("place 1 must hold a block of our own now", given=given, got=table)
    expect([table[0], table[2]], [books.table[0], books.table[2]], given=given, note="places 0 and 2")
    expect(copies, [(books.table[1], table[1])], given=given, note="the copies")


@CHECKS.check(
    "q4",
    1,
    misconception="who takes a copy drops its reference to the original; otherwise that block never comes back",
    rows=("prepare_write(pool, table, 5, 6)",),
)
def the_original_loses_a_reference(s: Subject, rng: random.Random) -> None:
    books = three(s)
    books.prepare_write(5, 6)
    given = f"{FIRST_TWO_SHARED}: prepare_write(pool, table, 5, 6)"
    expect(books.counts, [2, 1, 1], given=given, note="references of the three blocks of the old table")
    expect(books.pool.num_free, 3, given=f"{given}; 4 blocks were free", note="num_free")


@CHECKS.check(
    "q4",
    1,
    misconception="writing into a block of one's own takes no block and copies nothing",
    rows=("prepare_write(pool, table, 8, 9)",),
)
def own_blocks_are_written_in_place(s: Subject, rng: random.Random) -> None:
    books = three(s)
    table, copies = books.prepare_write(8, 9)
    given = f"{FIRST_TWO_SHARED}: prepare_write(pool, table, 8, 9)"
    expect((table, copies), (books.table, []), given=given, note="(table, copies)")
    expect(books.pool.num_free, 4, given=f"{given}; 4 blocks were free", note="num_free")


@CHECKS.check(
    "q4",
    1,
    misconception="up to position end − 1 every position needs a block, and not one block more",
    rows=("prepare_write(pool, table, 11, 13)",),
)
def missing_blocks_are_added(s: Subject, rng: random.Random) -> None:
    for start, end, more in ((11, 13, 1), (10, 12, 0), (12, 17, 2)):
        books = three(s)
        table, copies = books.prepare_write(start, end)
        given = f"{FIRST_TWO_SHARED}: prepare_write(pool, table, {start}, {end})"
        expect(len(table), 3 + more, given=given, note="blocks in the table")
        expect(table[:3], books.table, given=given, note="the blocks that were there")
        expect(len(set(table)), len(table), given=given, note="different blocks")
        expect((copies, books.pool.num_free), ([], 4 - more), given=given, note="(copies, num_free)")


@CHECKS.check(
    "q4",
    1,
    misconception="ask the pool once for all blocks: half a preparation cannot be taken back",
    rows=("prepare_write(pool, table, 5, 13), and one block is free",),
)
def a_write_is_prepared_all_or_nothing(s: Subject, rng: random.Random) -> None:
    books = three(s, num_free=1)
    given = f"{FIRST_TWO_SHARED}, and 1 block is free: prepare_write(pool, table, 5, 13) needs 2"
    expect_raises(partial(books.prepare_write, 5, 13), "MemoryError", given=given)
    state = (books.pool.num_free, books.counts)
    expect(state, (1, [2, 2, 1]), given=given, note="(num_free, references of the table) after the refusal")


@CHECKS.check(
    "q4",
    1,
    visible=False,
    misconception="with several copies, each new block must stand at the place of the block it is a copy of",
)
def each_copy_at_its_own_place(s: Subject, rng: random.Random) -> None:
    for _ in range(6):
        shared = rng.randint(2, 5)
        books = Books(s, shared, 0, shared + 1)
        first = rng.randrange(shared - 1)
        table, copies = books.prepare_write(4 * first + rng.randrange(4), 4 * shared)
        expect(table[:first], books.table[:first])
        replaced = list(zip(books.table[first:], table[first:], strict=False))
        expect(sorted(map(sorted, copies)), sorted(map(sorted, replaced)))


# --- q5: the audit ------------------------------------------------------------------------------------------

FREE, REFERENCES, TABLES = [2, 3], [1, 2, 0, 0], [[0, 1], [1]]


def audit(s: Subject, free: Any = FREE, references: Any = REFERENCES, tables: Any = TABLES) -> dict[int, Any]:
    faults = s.call("audit_blocks", list(free), list(references), [list(table) for table in tables])
    if not isinstance(faults, dict):
        fail("audit_blocks returns a dict from block id to a number", got=faults)
    return faults


def expect_faults(
    s: Subject, wanted: dict[int, int], free: Any = FREE, references: Any = REFERENCES, tables: Any = TABLES
) -> None:
    """Blocks that are named with 0 are the matter of the first check."""
    found = {block: number for block, number in audit(s, free, references, tables).items() if number != 0}
    expect(found, wanted, given=f"free={free}, references={references}, tables={tables}")


@CHECKS.check(
    "q5",
    1,
    misconception="a block without a fault is not in the answer at all",
    rows=("nothing is wrong",),
)
def right_books_have_no_faults(s: Subject, rng: random.Random) -> None:
    for books in ((FREE, REFERENCES, TABLES), ([0, 1], [0, 0], []), ([1], [1, 0], [[0], []])):
        given = "free={}, references={}, tables={}".format(*books)
        expect(audit(s, *books), {}, given=given)


@CHECKS.check(
    "q5",
    1,
    misconception="a block that is neither free nor referenced is lost: nobody can ever give it back",
    rows=("free=[3]",),
)
def a_lost_block_is_found(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {2: -1}, free=[3])
    expect_faults(s, {2: -1, 3: -1}, free=[])


@CHECKS.check(
    "q5",
    1,
    misconception="a block that is held and in the free list at once will be handed out while it is in use",
    rows=("free=[1, 2, 3]",),
)
def held_and_free_at_once(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {1: 1}, free=[1, 2, 3])
    expect_faults(s, {0: 1, 1: 1}, free=[0, 2, 1, 3])


@CHECKS.check(
    "q5",
    1,
    misconception="a block that stands in the free list twice will be handed out twice",
    rows=("free=[2, 3, 3]",),
)
def twice_in_the_free_list(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {3: 1}, free=[2, 3, 3])
    expect_faults(s, {2: 2}, free=[2, 3, 2, 2])


@CHECKS.check(
    "q5",
    1,
    misconception="a reference without a holder is a leak: this block will never be free again",
    rows=("references=[1, 3, 0, 0]",),
)
def a_reference_without_a_holder(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {1: -1}, references=[1, 3, 0, 0])
    expect_faults(s, {0: -1, 1: -2}, tables=[[]])


@CHECKS.check(
    "q5",
    1,
    misconception="a holder without a reference uses a block that will be free before its time",
    rows=("references=[1, 1, 0, 0]", "tables=[[0, 1], [1], [2]]"),
)
def a_holder_without_a_reference(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {1: 1}, references=[1, 1, 0, 0])
    expect_faults(s, {2: 1}, tables=[[0, 1], [1], [2]])
    expect_faults(s, {0: 2}, tables=[[0, 1], [0], [1], [0]])


@CHECKS.check(
    "q5",
    1,
    misconception="two faults can make up for each other in the total: look at each block by itself",
    rows=("free=[1, 3]",),
)
def two_faults_do_not_cancel(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {1: 1, 2: -1}, free=[1, 3])


@CHECKS.check(
    "q5",
    1,
    misconception="first the place, then the count: a block in the wrong place is reported for its place only",
    rows=("free=[1, 2, 3], references=[1, 3, 0, 0]",),
)
def the_place_comes_first(s: Subject, rng: random.Random) -> None:
    expect_faults(s, {1: 1}, free=[1, 2, 3], references=[1, 3, 0, 0])
    expect_faults(s, {1: 1}, free=[1, 2, 3], references=[1, 5, 0, 0])


@CHECKS.check(
    "q5", 1, visible=False, misconception="each time that a table names a block it holds it once more"
)
def every_mention_is_a_holder(s: Subject, rng: random.Random) -> None:
    for _ in range(6):
        times = rng.randint(2, 4)
        expect_faults(s, {}, free=[1], references=[times, 0, 1], tables=[[0] * times, [2]])


@CHECKS.check(
    "q5", 1, visible=False, misconception="right books of any size raise no alarm, however many hold a block"
)
def no_false_alarm(s: Subject, rng: random.Random) -> None:
    for _ in range(8):
        count = rng.randint(4, 30)
        tables = [rng.sample(range(count), rng.randint(0, count // 3)) for _ in range(rng.randint(3, 7))]
        references = [sum(block in table for table in tables) for block in range(count)]
        free = [block for block in range(count) if references[block] == 0]
        rng.shuffle(free)
        expect(audit_blocks(free, references, tables), {})
        expect_faults(s, {}, free, references, tables)
