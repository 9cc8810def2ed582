# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 06 · Paged KV
#
# | | |
# |---|---|
# | Difficulty | ●●●○○ |
# | Time | 150 minutes |
# | You build | the arithmetic of slots and blocks, slot mapping, a block pool with reference counts, copy-on-write, the audit |
# | It plugs into | the KV manager of the running engine, as its block pool |
# | Runs on | CPU. The five questions need Python only; the last part runs a real model |
# | Read before | `course/ch06_paged_kv.ipynb` (14 minutes) |
#
# <!-- @badge -->
#
# Each question has a **contract**, a **stub** and a **check**. The check says *not done yet*, *wrong* (with the first case that differs), or *done* (with a picture of what your
# code did). Keep the first line of each answer cell. Hints are folded below each check.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, show
from inference_kit.labs.checksum import ChecksumMemory, continuation

# %% [markdown]
# ## Why it matters
#
# A writing assistant shows several drafts for each request, and the reader closes the ones that she does not like. One afternoon a reader wrote to support: in the middle of a
# letter about a tenancy, the draft began to speak of a person whose name she had never heard.
#
# The model was fine. The keys and values (KV) of the prompt lay in memory once, and all drafts used them: that saves a lot of memory. When she closed a draft, the server gave
# back the memory of *that draft*, and with it the memory of the prompt. It was free now, so the next customer got it. The other drafts went on reading from the same place.
#
# You can see this without a model. `ChecksumMemory` is a memory of numbers. Each token is written to a slot, and the next token is a checksum over everything that
# the request reads back. One wrong number in memory, and the answer is a different one. `continuation` computes the right answer without any memory management.
#
# Here is that server. Its bookkeeping is one list of free blocks.

# %%
memory = ChecksumMemory(num_blocks=6, block_size=4)
free_list = [5, 4, 3, 2, 1, 0]
prompt = [11, 12, 13, 14, 15, 16, 17, 18]

of_the_prompt = [free_list.pop(), free_list.pop()]
draft_a = [*of_the_prompt, free_list.pop()]
draft_b = [*of_the_prompt, free_list.pop()]
memory.step(of_the_prompt, 0, prompt)  # the prompt is computed once, for both drafts
memory.step(draft_a, 8, [21])  # then each draft begins with a word of its own
second = memory.step(draft_b, 8, [22])

free_list += draft_a  # the reader closes draft A: "give its blocks back"
stranger = [free_list.pop(), free_list.pop()]  # the next customer comes
memory.step(stranger, 0, [31, 32, 33, 34, 35])

third = memory.step(draft_b, 9, [second])
print("draft B says ", [second, third])
print("it should say", continuation([*prompt, 22], 2))

# %% [markdown]
# The first token is right, the second one is not: between the two, somebody else wrote into block 1. The picture shows which blocks the two of them use, and what the server believes
# about each block (`×0`: it takes the block for free). Every frame with a warning sign is a block whose count does not fit its users.

# %%
believed = [0 if block in free_list else 1 for block in range(6)]
tables = {"draft B": draft_b, "stranger": stranger}
viz.block_map(
    {
        "num_blocks": 6,
        "block_size": 4,
        "references": believed,
        "kept": [],
        "tables": tables,
        "num_tokens": {},
    },
    title="What the server believes, and who is there",
)

# %% [markdown]
# No exception, no full memory, nothing in the log. In this lab you write the bookkeeping that makes this impossible, and the audit that would have found it on the first day.

# %% [markdown]
# ## The mechanism
#
# A request needs a **slot** for each token whose keys and values it keeps. The simple way is to reserve one piece of memory for the longest answer that may come.
# Nobody knows the length of an answer beforehand, so most of such a piece stays empty, and nobody else may use it. Look at one memory of 128 slots. Each request brings a prompt and a limit;
# `written` is how far it has come.

# %%
REQUESTS = [
    ("A", 20, 24, 26),
    ("B", 8, 16, 20),
    ("C", 12, 30, 18),
    ("D", 6, 12, 10),
]  # name, prompt, limit, written


def first_gap(spans, size, num_slots):
    """Where a piece of `size` slots fits between the others; None when it fits nowhere."""
    at = 0
    for _, start, reserved, _ in sorted(spans, key=lambda span: span[1]):
        if start - at >= size:
            return at
        at = start + reserved
    return at if num_slots - at >= size else None


spans = []
for name, prompt_length, limit, written in REQUESTS:
    size = prompt_length + limit - 1
    at = first_gap(spans, size, 128)
    if at is None:
        print(f"{name} needs {size} slots in one piece: refused")
    else:
        spans.append((name, at, size, written))
viz.memory_strip(spans, 128, "One piece for each request")

# %% [markdown]
# Two kinds of waste show:
#
# - **inside** the pieces (hatched): reserved for tokens that may never come;
# - **between** the pieces: B ends now, and E comes with a need of 26 slots. There are more free slots than that. But not in one piece:

# %%
spans = [span for span in spans if span[0] != "B"]
free_slots = 128 - sum(reserved for _, _, reserved, _ in spans)
place = first_gap(spans, 26, 128)
print(f"free slots: {free_slots}; the first place for 26 in one piece: {place}")
viz.memory_strip(spans, 128, "After B: two gaps")

# %% [markdown]
# **Pages** end both. The memory is cut into **blocks** of equal size. A request gets a block when it needs one, and any block will do. Its **block table** lists them in order, so the positions of
# a request stay in one line although its blocks lie anywhere. Here is the same workload, after the end of B, with E, in 16 blocks of 8 slots:

# %%
from inference_kit.kv import BlockPool as KitPool

pool = KitPool(num_blocks=16, block_size=8)
running = {name: written for name, _, _, written in REQUESTS} | {"E": 26}
tables = {name: pool.allocate(-(-written // 8)) for name, written in running.items()}
pool.free(tables.pop("B"))
viz.block_map(pool, tables, running, title="The same requests in pages")

# %% [markdown]
# Waste is now at most one part-filled block for each request. There are no gaps, because all blocks have one size. And two requests can hold the same block. Step through the life of two drafts; look at the counts (`×2`), and at the moment of the copy:

# %%
viz.block_player()

# %% [markdown]
# What you need to build it:
#
# | question | part | the rule |
# |---|---|---|
# | 1 | slots and blocks | how much memory does an answer need? |
# | 2 | slot mapping | where does position *p* of this request lie? |
# | 3 | the block pool | who holds which block, and how many hold it? |
# | 4 | copy-on-write | what must happen before somebody writes into a shared block? |
# | 5 | the audit | is every block accounted for? |

# %% [markdown]
# ## Question 1 · How many slots, how many blocks
#
# A token takes a slot when it is *computed*: then its keys and values are written. The last token of an answer is sampled, sent to the reader, and never computed.
# So an answer of *n* tokens needs prompt + *n* − 1 slots.
#
# **Contract.** Three functions on whole numbers. `slots_needed(num_prompt_tokens, num_output_tokens)` gives the slots of a whole answer (at least one output token).
# `blocks_for(num_tokens, block_size)` gives the blocks that store so many tokens. `longest_total(num_blocks, block_size)` gives the largest sum of prompt tokens and output tokens that one
# request can reach with so many blocks.
#
# | call | result | because |
# |---|---|---|
# | `slots_needed(60, 5)` | 64 | the fifth token is not stored |
# | `slots_needed(60, 1)` | 60 | the one token is sampled from the prompt |
# | `blocks_for(64, 16)` | 4 | four blocks, all full |
# | `blocks_for(65, 16)` | 5 | the fifth block holds one token |
# | `blocks_for(0, 16)` | 0 | nothing to store |
# | `longest_total(4, 16)` | 65 | 64 stored tokens and a last one that is not stored: a prompt of 60 gets 5 tokens |


# %%
# lab06/q1 — keep this line
def slots_needed(num_prompt_tokens: int, num_output_tokens: int) -> int:
    """KV slots that a whole answer takes."""
    # TODO 1: one slot for each token of the prompt and of the answer, except for the last token.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:slots_needed
    ### END SOLUTION


def blocks_for(num_tokens: int, block_size: int) -> int:
    """Blocks needed to store `num_tokens` tokens; the last one may be part-filled."""
    # TODO 2: divide and round up.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:blocks_for
    ### END SOLUTION


def longest_total(num_blocks: int, block_size: int) -> int:
    """The most tokens, prompt and output together, that one request can reach."""
    # TODO 3: how many slots are there, and how many tokens need none?
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:longest_total
    ### END SOLUTION


# %%
check("lab06.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Write the tokens of a small case in a line: prompt of 2, answer of 3. Which of the five are ever fed into the model? Those take a slot.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `//` rounds down. To round up, use `math.ceil`, or add `block_size - 1` before you divide, or note that `-(-7 // 4)` is 2.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `num_prompt_tokens + num_output_tokens - 1` slots must fit into `num_blocks * block_size`. Solve that for the sum of the two.
#
# </details>
#
# Expected picture: prompts, answers, and the blocks of 16 that they take.

# %%
show("lab06.q1")

# %% [markdown]
# ## Question 2 · From a position to its slot
#
# The model computes positions 0, 1, 2, … of a request. The memory has slots. The block table stands between them: position *p* lies in the block at place *p* // size of
# the table, at offset *p* mod size. Block *b* begins at slot *b* × size.
#
# **Contract.** `slot_mapping(block_table, start, end, block_size)` returns the list of the slots of positions `start`, …, `end` − 1 in this order (`start` ≤ `end`). If one of these
# positions is negative or lies behind the table, it raises `IntegrityError` (given below) and gives no slot at all.
#
# | call | result |
# |---|---|
# | `slot_mapping([7, 2], 0, 3, 4)` | `[28, 29, 30]` |
# | `slot_mapping([7, 2], 2, 6, 4)` | `[30, 31, 8, 9]`: from block 7 on to block 2 |
# | `slot_mapping([7, 2], 4, 4, 4)` | `[]` |
# | `slot_mapping([7, 2], 6, 9, 4)` | raises `IntegrityError`: the table ends with position 7 |
# | `slot_mapping([7, 2], -1, 2, 4)` | raises `IntegrityError`: there is no position −1 |


# %%
# lab06/q2 — keep this line
# @given inference_kit.errors:KitError, IntegrityError


def slot_mapping(block_table: list[int], start: int, end: int, block_size: int) -> list[int]:
    """The slots of positions `start` .. `end` − 1, one for each."""
    # TODO 1: refuse positions that are not all inside the table.
    # TODO 2: for each position find its block in the table, and its offset inside the block.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:slot_mapping
    ### END SOLUTION


# %%
check("lab06.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# A table of 2 blocks of 4 slots covers positions 0 to 7. Test `start` and `end` once, before the loop.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `divmod(position, block_size)` gives both: the place in the table, and the offset.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The slot of one position is `block_table[position // block_size] * block_size + position % block_size`. `end` itself is not a position of the range, so `end == len(block_table) * block_size` is fine.
#
# </details>
#
# Expected picture: the slots of a request whose blocks are 7 and 2.

# %%
show("lab06.q2")

# %% [markdown]
# What does a wrong slot do? Try it on the checksum memory. This server counts on from the first block instead of looking into the table. It writes *and* reads with the same wrong rule, so
# as long as one request is alone, nothing shows. Then a second request comes.


# %%
def first_block_only(block_table, start, end, block_size):
    return [block_table[0] * block_size + position for position in range(start, end)]


memory = ChecksumMemory(num_blocks=6, block_size=4, slot_mapping=first_block_only)
alone = memory.step([0, 3], 0, [11, 12, 13, 14, 15])
print("alone:  ", alone, "expected", *continuation([11, 12, 13, 14, 15], 1))
memory.step([1], 0, [41, 42])
print("in company:", memory.step([0, 3], 5, [alone]), "expected", continuation([11, 12, 13, 14, 15], 2)[1])

# %% [markdown]
# This is why paging faults are hard to find: they need two requests at the right moment. Now the same company with *your* mapping. (`plug` takes your part when its check says *done*, and says
# so; otherwise it takes the kit's.)

# %%
plug("lab06", globals()).in_company()

# %% [markdown]
# ## Question 3 · The block pool
#
# The pool owns the blocks. Each block has a **reference count**: how many hold it. One that nobody holds is free. Sharing is now one number: who begins to share a block *retains* it, and who leaves *frees* it, which
# drops one reference. Only the last one to leave makes the block free again. That is all that the server of the story lacked.
#
# **Contract.** A `BlockPool(num_blocks, block_size)` with ids 0 … `num_blocks` − 1, all free at first. `__init__` and `num_free` are given. Every method is **all or nothing**: when it raises, nothing has changed.
# Each should cost O(1) for a block: no search through all blocks (the check does not measure this; a cell below does).
#
# | call, in a pool of 4 | result |
# |---|---|
# | `allocate(2)` | a list of two different ids that were free; each has one reference now |
# | `allocate(0)` | `[]` |
# | `allocate(3)`, and 2 are free | raises `OutOfBlocks`; nothing was taken |
# | `retain(ids)` | one reference more for each of them |
# | `free(ids)`, and another holder is left | one reference fewer; the block stays with the other one |
# | `free(ids)`, and it was the last holder | the block is free; a later `allocate` can hand it out |
# | `free([b, b])`, and `b` has one reference | raises `IntegrityError` |
# | `free([b])`, and `b` is free | raises `IntegrityError` (a *double free*) |
# | `retain([b])`, and `b` is free | raises `IntegrityError`: there are no contents to share |
# | an id outside the pool, such as -1 or 4 | `references`, `retain` and `free` raise `IntegrityError` |
#
# An id may stand in a list more than once: `free([b, b])` drops two references. `references(b)` is the count of one block.


# %%
# lab06/q3 — keep this line
from collections import Counter

# @given inference_kit.errors:KitError, OutOfBlocks, IntegrityError


class BlockPool:
    """Blocks of KV memory, counted by references."""

    def __init__(self, num_blocks, block_size):
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = list(range(num_blocks - 1, -1, -1))  # a stack of free ids, block 0 on top
        self._references = [0] * num_blocks

    @property
    def num_free(self):
        """Blocks that nobody holds."""
        return len(self._free)

    def references(self, block_id):
        """How many hold this block."""
        # TODO 1: refuse an id outside the pool; otherwise return its count.
        ### BEGIN SOLUTION
        # @answer inference_kit.kv.counted_pool:CountedPool.references
        ### END SOLUTION

    def allocate(self, n):
        """Take `n` free blocks, each with one reference."""
        # TODO 2: refuse when fewer than n are free, before you take the first one.
        # TODO 3: take n ids off the stack, give each one reference, and return them.
        ### BEGIN SOLUTION
        # @answer inference_kit.kv.counted_pool:CountedPool.allocate
        ### END SOLUTION

    def retain(self, ids):
        """Add one reference to each block."""
        # TODO 4: first look at all ids: none may be foreign or free. Then add.
        ### BEGIN SOLUTION
        # @answer inference_kit.kv.counted_pool:CountedPool.retain
        ### END SOLUTION

    def free(self, ids):
        """Drop one reference from each block; without references a block is free again."""
        # TODO 5: first count how often each id occurs; no block may lose more references than it has.
        # TODO 6: drop the references, and put a block that has none left back on the stack.
        ### BEGIN SOLUTION
        # @answer inference_kit.kv.counted_pool:CountedPool.free
        ### END SOLUTION


# %%
check("lab06.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Two loops in `retain` and in `free`: the first one only looks and may raise, the second one only changes.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `Counter(ids).items()` gives each id with the number of times it occurs. Compare that number with `self.references(block_id)`: this also refuses foreign ids.
#
# </details>
# <details><summary>Hint 3</summary>
#
# A free block has 0 references, so "more drops than references" covers the double free as well. In the second loop of `free`: subtract 1; `if self._references[block_id] == 0: self._free.append(block_id)`.
#
# </details>
#
# Expected picture: two drafts share a prompt, and one of them has ended.

# %%
show("lab06.q3")

# %% [markdown]
# Play the story again, with your pool. Two drafts share the blocks of the prompt, the reader closes draft A, and the next customer gets other blocks.

# %%
plug("lab06", globals()).story()

# %% [markdown]
# And the price of a block. A pool that searches through all blocks gets slower as it grows; a count and a stack do not. Compare the two lines.

# %%
plug("lab06", globals()).price_of_a_block()

# %% [markdown]
# ## Question 4 · Copy-on-write
#
# Sharing is safe as long as everybody only reads. The full blocks of a prompt are never written again, so they can be shared for ever. The *last* block of the prompt is different: it is part-filled,
# and each draft wants to write its own next token there, into the same slot. Who writes first must take a **copy**: a fresh block, with the old contents copied into it, in the place of the shared one.
# This is copy-on-write. The other holders notice nothing, except that the original has one reference fewer.
#
# **Contract.** Two functions. `pool` has blocks of 4 slots here; it offers `block_size`, `references(id)`, `allocate(n)` and `free(ids)`. The table has three blocks; the first two are shared (two references each),
# the third one is our own. The write goes to positions `start` … `end` − 1, with `start` < `end`.
#
# `shared_writes(pool, block_table, start, end)` returns the *places* in the table (0, 1, …, in rising order) of blocks that the write touches and that somebody else holds too.
# `prepare_write(pool, block_table, start, end)` makes the write safe. It returns the new table and the copies: a list of pairs (source id, destination id). Blocks that the table lacks for the write are added at its end.
#
# | call | result |
# |---|---|
# | `shared_writes(pool, table, 5, 6)` | `[1]`: position 5 lies in the second block |
# | `shared_writes(pool, table, 8, 9)` | `[]`: the third block is our own |
# | `shared_writes(pool, table, 0, 8)` | `[0, 1]` |
# | `shared_writes(pool, table, 3, 4)` | `[0]`: position 4 is not written any more |
# | `shared_writes(pool, table, 12, 14)` | `[]`: behind the table there is nothing to copy |
# | `prepare_write(pool, table, 5, 6)` | table: a fresh block in place 1; copies: `[(old, fresh)]`; `old` has one reference fewer |
# | `prepare_write(pool, table, 8, 9)` | the same table, `[]`; no block is taken |
# | `prepare_write(pool, table, 11, 13)` | one fresh block at the end of the table, no copies |
# | `prepare_write(pool, table, 5, 13)`, and one block is free | the error of `pool.allocate` passes; nothing has changed in the pool |


# %%
# lab06/q4 — keep this line
class DemoPool:
    """A pool whose books are kept by the check. You do not change this class."""

    def __init__(self, block_size, references, allocate, free):
        self.block_size = block_size
        self._references = references
        self._allocate = allocate
        self._free = free

    def references(self, block_id):
        """How many hold this block."""
        return self._references(block_id)

    def allocate(self, n):
        """Take `n` free blocks, or raise and take none."""
        return self._allocate(n)

    def free(self, ids):
        """Drop one reference from each block."""
        self._free(list(ids))


def shared_writes(pool, block_table, start, end) -> list[int]:
    """Places of the blocks that a write touches and that others hold too."""
    # TODO 1: which places of the table hold positions start .. end - 1? Stop at the end of the table.
    # TODO 2: keep those whose block has more than one reference.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:shared_writes
    ### END SOLUTION


def prepare_write(pool, block_table, start, end) -> tuple[list[int], list[tuple[int, int]]]:
    """The table after it was made safe to write, and the (source, destination) blocks to copy first."""
    # TODO 3: how many blocks must be replaced, and how many are missing at the end of the table?
    # TODO 4: allocate all of them in one call.
    # TODO 5: put a fresh block in each place that must be replaced, and note the copy.
    # TODO 6: drop our references to the originals; add the other fresh blocks at the end of the table.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.table:prepare_write
    ### END SOLUTION


# %%
check("lab06.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# The first place is `start // size`. The place of the last position is `(end - 1) // size`, so a `range` ends one behind it. The table may be shorter than that.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The write needs `ceil(end / size)` blocks in the table. What the table lacks comes at its end. One `pool.allocate(replaced + missing)` either gives all or raises, and then nothing has changed.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Work on `table = list(block_table)`. For each place: `fresh = blocks.pop(0)`, `copies.append((table[place], fresh))`, `table[place] = fresh`. Then `pool.free([source for source, _ in copies])`
# and `return table + blocks, copies`.
#
# </details>
#
# Expected picture: a second draft is about to write into the part-filled block of the prompt.

# %%
show("lab06.q4")

# %% [markdown]
# ## Question 5 · The audit
#
# Books can be wrong in two directions, and the direction says which fault to look for. Too **few**: a block is lost, or it has a reference that nobody will ever drop. That is a leak; memory gets smaller and smaller.
# Too **many**: a block is held and free at once, or it has more holders than references. Then two requests will write into the same slots. That is the story at the top.
# A check that tests only one direction, or only the totals, misses half.
#
# **Contract.** `audit_blocks(free, references, tables)` returns a dict from block id to a number, with the faulty blocks only. `free` lists the ids that can be handed out, `references[b]` is the count of block *b*,
# and `tables` are the block tables of all holders; each mention in a table is one holder.
#
# 1. A block must stand in **one place**: once in `free`, or referenced (count > 0). The number is (times in `free`) + (1 if referenced) − 1.
# 2. Only where this is right, the **count** is compared: the number is (mentions in all tables) − (references).
#
# A positive number means *counted too often*, a negative one *lost*. The books of the table are `free=[2, 3]`, `references=[1, 2, 0, 0]`, `tables=[[0, 1], [1]]`. Each row says what is different.
#
# | different | result | meaning |
# |---|---|---|
# | nothing is wrong | `{}` | |
# | `free=[3]` | `{2: -1}` | block 2 is lost |
# | `free=[1, 2, 3]` | `{1: 1}` | block 1 is held and will be handed out |
# | `free=[2, 3, 3]` | `{3: 1}` | block 3 will be handed out twice |
# | `references=[1, 3, 0, 0]` | `{1: -1}` | a reference without a holder: a leak |
# | `references=[1, 1, 0, 0]` | `{1: 1}` | a holder without a reference |
# | `tables=[[0, 1], [1], [2]]` | `{2: 1}` | somebody still uses a free block |
# | `free=[1, 3]` | `{1: 1, 2: -1}` | two faults; the total is right |
# | `free=[1, 2, 3], references=[1, 3, 0, 0]` | `{1: 1}` | the place comes first |


# %%
# lab06/q5 — keep this line
from collections import Counter


def audit_blocks(free: list[int], references: list[int], tables: list[list[int]]) -> dict[int, int]:
    """What is wrong with each block, by block id; empty when the books are right."""
    # TODO 1: count how often each block stands in `free`, and how often in all tables together.
    # TODO 2: for each block, look at its place.
    # TODO 3: where the place is right, compare the mentions with the references.
    # TODO 4: keep a block only when its number is not 0.
    ### BEGIN SOLUTION
    # @answer inference_kit.kv.audit:audit_blocks
    ### END SOLUTION


# %%
check("lab06.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Two `Counter`s, one over `free` and one over the ids of all tables. A `Counter` gives 0 for an id that it does not know.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `for block_id, count in enumerate(references):` visits every block. `(count > 0)` is 1 or 0 in a sum.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `excess = places[block_id] + (count > 0) - 1`; if that is 0, `excess = holders[block_id] - count`; if the result is not 0, it goes into the dict.
#
# </details>
#
# Expected picture: the books of the server in the story, after the stranger came.

# %%
show("lab06.q5")

# %% [markdown]
# ## Plug your parts into the engine
#
# Now your pool holds the memory of a real model. The engine's KV manager asks *your* `allocate`, `retain` and `free` for each block of each request. (The kit puts its check of ids around your pool, and the
# bookkeeping of the prefix cache, which is the matter of lab 07.) A part that is wrong or not done yet is replaced by the kit's, and `plug` says so.
#
# The model is SmolLM2 (135 million weights, CPU). With the environment variable `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights that talks nonsense. Three drafts of one answer, with blocks of 4 slots:

# %%
import os

from inference_kit import LLM, SamplingParams

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
parts = plug("lab06", globals())
llm = LLM(model, components=parts.components, num_kv_blocks=64, block_size=4, progress=False)
drafts = llm.stream(
    "Once upon a time, in a small town by the sea, there lived",
    SamplingParams(n=3, max_tokens=20, temperature=0.9, seed=7, ignore_eos=True),
)
texts = {0: "", 1: "", 2: ""}
for _ in range(24):
    chunk = next(drafts)
    texts[chunk.index] += chunk.text
viz.block_map(llm.core.kv_snapshot(), title="In the middle of three drafts, on your pages")

# %% [markdown]
# Blocks with a second frame hold the beginning of the prompt: computed once, held by all three. Each draft has its own block for what comes after. Now let the drafts end, and look at the pool again:

# %%
for chunk in drafts:
    texts[chunk.index] += chunk.text
for index, text in texts.items():
    print(f"draft {index}: {text!r}")
snapshot = llm.core.snapshot()
llm.core.check_integrity()
print(f"blocks free at the end: {snapshot['kv_blocks_free']} of {snapshot['kv_blocks']}")

# %% [markdown]
# A network forgives much: one wrong number among thousands may not change the next word. The checksum model forgives nothing. Here the whole engine runs on it, with your pool *and* your slot mapping: many requests, more than fit into the pool at
# once, with preemptions. Each answer must be the one that is computed without any paging.

# %%
parts.on_the_checksum_model()

# %% [markdown]
# And last, your copy-on-write. The engine's manager calls the kit's own `prepare_write`, so yours runs in a small machine of its own: your pool, your mapping, your `prepare_write`, and your audit after every step. Two drafts share a prompt that ends in the middle of a block,
# write different words, and one of them is cancelled on the way. Here wrong parts are tried as well.

# %%
plug("lab06", globals()).two_drafts()

# %% [markdown]
# The same run, moment by moment, drawn from your pool:

# %%
plug("lab06", globals()).player()

# %% [markdown]
# Try a fault. In the answer cell of question 4, write `return []` as the first line of `shared_writes` and run that cell: now nobody makes a copy. Then run the two cells above once more; they plug your parts in again. Which
# draft is wrong now, from which step on, and why not the other one? And why does the audit still say *right*? Put the line back and run the cells again.

# %% [markdown]
# ## Reflection
#
# Your engine serves two kinds of customers. Some send long documents (8,000 tokens) and want short answers. Others chat: short prompts, long answers, often several drafts. You may choose the block size, from 1 to 256 slots, and you may
# switch the sharing of blocks between drafts on or off.
#
# In six to ten sentences: what becomes better and what becomes worse with larger blocks (name at least three things)? What does sharing cost when it does not help, and what goes wrong first if one `retain` is forgotten? How would
# you notice each of the two kinds of fault in production, before a customer does?

# %% [markdown]
# <!-- lab06/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *Block size.* At least three of: larger blocks waste more in the last block of each request (half a block on average); they make block tables and bookkeeping shorter; memory is read in longer pieces; a copy-on-write copies more;
#    less of a prompt can be shared, because only whole blocks are (and the part-filled one is copied). For 8,000-token documents the waste hardly counts; for short chats it does.
# 2. *Cost of sharing.* Counting is O(1) for a block and cheap; the real cost is complexity: every writer must ask first, every end must drop just one reference. One extra block per draft is needed for the copy.
# 3. *A forgotten retain* gives a holder without a reference: the block is free too early, is handed out, and two requests write into the same slots. Wrong answers without an error. (A forgotten *free* is a leak: capacity shrinks, nothing is wrong with answers.)
# 4. *Noticing.* The two-sided audit when the engine is idle or after each test; free blocks that do not return to the total when nobody runs (leak); for the other direction an audit against the tables, since totals can be right; a check of outputs with a checksum model in CI.
#    An answer that watches only "memory used" gets no point.

# %% [markdown]
# ## What did you keep?

# %%
from inference_kit.labs import quiz

quiz("lab06")

# %% [markdown]
# ## What to read next
#
# - `course/ch06_paged_kv.ipynb`, if you have not yet: fragmentation in numbers, and how other engines count.
# - The kit's own code: `inference_kit/kv/table.py`, `counted_pool.py`, `audit.py` hold your answers. Then `block_pool.py` (the fast pool) and `manager.py` (who asks for what).
# - Lab 07: blocks that nobody holds can still be worth something. The prefix cache keeps them until their place is needed.
