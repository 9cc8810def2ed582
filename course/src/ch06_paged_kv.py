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
# # Chapter 6 · Paged KV
#
# 14 minutes of reading. Then do lab 06.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. What a request must remember
#
# To make the next token, a model looks back at all tokens before it. It does not compute them again: for each token and each layer it keeps two vectors, the **key** and the **value**. Together they are the KV cache, and it grows by one **slot** for
# each token that is computed. How large is a slot?

# %%
import os

from inference_kit import LLM, SamplingParams, viz

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"), progress=False)
per_token = llm.model.kv_bytes_per_token
print(f"one token: {per_token:,} bytes; 2,000 tokens: {2000 * per_token / 2**20:.1f} MiB")

# %% [markdown]
# That is for a very small model. The number grows with layers and heads, and a server has many requests at once. In practice the memory that the weights leave free is what decides how many requests can run together.
# So the question of this chapter is: how do you give this memory to requests whose length nobody knows beforehand?
#
# ## 2. One piece for each request
#
# The first answer: reserve one piece of memory for the longest answer that may come. Attention then reads one line of memory, and the code is simple. Two kinds of waste follow.
#
# - **Internal**: slots that are reserved and not written, because the answer is still young or ends early.
# - **External**: gaps between pieces. Together they would be enough for the next request, but none is large enough alone.
#
# Let us measure both. A memory of 4,096 slots, prompts of 20 to 400 tokens, a limit of 400 tokens, and answers that mostly end long before the limit. Whoever waits comes in first-come order, as soon as it fits. Each tick, every running request writes one token.

# %%
import random


def workload(seed):
    """An endless line of requests: (prompt tokens, tokens that the answer will really have)."""
    rng = random.Random(seed)
    while True:
        yield rng.randint(20, 400), min(400, 1 + int(rng.expovariate(1 / 80)))


def first_gap(pieces, size, num_slots):
    """First slot of the first gap of `size` slots, or None. `pieces`: {first slot: size}."""
    at = 0
    for start in sorted(pieces):
        if start - at >= size:
            return at
        at = start + pieces[start]
    return at if num_slots - at >= size else None


def in_pieces(num_slots=4096, ticks=400, limit=400, seed=1):
    """Mean running requests, and the shares of the memory: written, reserved in vain, free."""
    line, running, pieces = workload(seed), {}, {}
    waiting, totals = next(line), [0, 0, 0, 0]
    for _ in range(ticks):
        while (at := first_gap(pieces, waiting[0] + limit - 1, num_slots)) is not None:
            pieces[at] = waiting[0] + limit - 1
            running[at] = [waiting[0], waiting[0] + waiting[1] - 1]  # written now, written at the end
            waiting = next(line)
        written = sum(now for now, _ in running.values())
        held = sum(pieces.values())
        for index, value in enumerate((len(running), written, held - written, num_slots - held)):
            totals[index] += value
        for at, request in list(running.items()):
            request[0] += 1
            if request[0] > request[1]:
                del running[at], pieces[at]
    return [total / ticks for total in totals]


def in_pages(num_slots=4096, ticks=400, block_size=16, seed=1):
    """The same for pages. Who needs a block and finds none is put back (preempted) and starts again later."""
    line, running, total_blocks = workload(seed), [], num_slots // block_size
    waiting, totals, preempted = [next(line)], [0, 0, 0, 0], 0

    def blocks(tokens):
        return -(-tokens // block_size)

    for _ in range(ticks):
        free = total_blocks - sum(blocks(request[0]) for request in running)
        while blocks(waiting[0][0]) <= free:
            prompt, answer = waiting.pop(0)
            running.append([prompt, prompt + answer - 1, (prompt, answer)])
            free -= blocks(prompt)
            waiting = waiting or [next(line)]
        written = sum(request[0] for request in running)
        held = sum(blocks(request[0]) for request in running) * block_size
        for index, value in enumerate((len(running), written, held - written, num_slots - held)):
            totals[index] += value
        for request in list(running):
            if request not in running:
                continue
            request[0] += 1
            if request[0] > request[1]:
                running.remove(request)
            while sum(blocks(one[0]) for one in running) > total_blocks:
                waiting.insert(0, running.pop()[2])
                preempted += 1
    return [total / ticks for total in totals], preempted


rows = [["memory", "requests at once", "written", "held in vain", "free"]]
pieces = in_pieces()
rows.append(["one piece each", f"{pieces[0]:.1f}", *(f"{100 * part / 4096:.0f} %" for part in pieces[1:])])
pages, preempted = in_pages()
rows.append(["pages of 16", f"{pages[0]:.1f}", *(f"{100 * part / 4096:.0f} %" for part in pages[1:])])
viz.grid(
    rows, "The same workload", [(1, 1), (2, 1)], f"pages: {preempted} requests had to be put back on the way"
)

# %% [markdown]
# Look at the three shares. With one piece for each request, most of the memory is held in vain, and some is free and still useless for the next in line. Pages run more than twice as many requests in the same memory. They pay with something new: nobody reserved the growth of an
# answer, so now and then a request has to be put back (preempted). That is the matter of lab 08.
#
# ## 3. Pages
#
# Cut the memory into **blocks** of equal size. A request takes a block when it needs one, any block. Its **block table** lists them in the order of its positions. This is how operating systems have given memory to programs for decades: the program sees one line of addresses, a table maps them to
# pages anywhere.
#
# > slot of position p = table[p // size] · size + p mod size

# %%
from inference_kit.kv import slot_mapping

table = [7, 2]
rows = [["position", *range(8)], ["slot", *slot_mapping(table, 0, 8, 4)]]
viz.grid(
    rows,
    "A table of two blocks of 4 slots",
    [(1, column) for column in range(1, 9)],
    "positions 0–3 lie in block 7, positions 4–7 in block 2",
)

# %% [markdown]
# Everything that writes or reads KV goes through this line. If it is wrong, nothing crashes: a number is written where somebody else's number was. On a real model you may not even see it in the text. That is why the tests of the kit use a model without weights. Its next token is a checksum of all that it reads back, so one wrong slot
# changes the answer. Here a table has two blocks in the wrong order:

# %%
from inference_kit.labs.checksum import ChecksumMemory, continuation

memory = ChecksumMemory(num_blocks=8, block_size=4)
memory.step([7, 2], 0, [11, 12, 13, 14, 15, 16])
print(
    "right table:",
    memory.step([7, 2], 6, [17]),
    " wrong order:",
    memory.step([2, 7], 6, [17]),
    " expected:",
    *continuation([11, 12, 13, 14, 15, 16, 17], 1),
)

# %% [markdown]
# ## 4. How many slots does an answer need?
#
# A token takes a slot when it is *computed*. The last token of an answer is sampled and never computed, so
#
# > n output tokens need prompt + n − 1 slots, and a pool of S slots carries at most S + 1 tokens in all.
#
# Take 4 blocks of 16 slots and a prompt of 60 tokens. 64 slots: five tokens can come, and the engine ends the request with `length` instead of waiting for a block that cannot exist:

# %%
small = LLM("tiny", num_kv_blocks=4, block_size=16, progress=False)
output = small.generate([7] * 60, SamplingParams(max_tokens=100, ignore_eos=True))[0]
print(len(output.token_ids), "tokens,", output.finish_reason)

# %% [markdown]
# Engines have got this wrong in both directions. One slot too few in the calculation, and the last step has nowhere to write. One too many, and a request that would just fit is refused, or one that cannot fit is put back and resumed for ever.
#
# ## 5. Who holds a block?
#
# A block can have several holders. Samples of one prompt share its blocks; so do requests that begin with the same text (lab 07). So each block has a **reference count**:
#
# | operation | what it does | cost |
# |---|---|---|
# | allocate(n) | takes n free blocks, one reference each; all or nothing | O(n) |
# | retain | one reference more | O(1) a block |
# | free | one reference fewer; free again at zero | O(1) a block |
#
# So an end costs O(blocks of the request), and a transition of a request without blocks costs nothing here. A *cancel* is the same `free`: it drops one reference for each block of the request, and breaks nobody else's prefix.

# %%
from inference_kit.errors import IntegrityError
from inference_kit.kv import CountedPool

pool = CountedPool(num_blocks=12, block_size=4)
prompt = pool.allocate(2)
tables = {"draft A": prompt + pool.allocate(1)}
for name in ("draft B", "draft C"):
    pool.retain(prompt)
    tables[name] = prompt + pool.allocate(1)
viz.block_map(pool, tables, {name: 10 for name in tables}, title="Three drafts share the prompt")

# %%
pool.free(tables.pop("draft A"))
print("references of the prompt's blocks:", [pool.references(block) for block in prompt])
pool.free(tables.pop("draft B"))
pool.free(tables["draft C"])
try:
    pool.free(tables["draft C"])
except IntegrityError as error:
    print("refused:", error)

# %% [markdown]
# The last line matters. A double free that is accepted puts the block into the free list twice, and two requests will get it. It must be refused *where it happens*, because the damage shows much later and somewhere else.
#
# ### The books must be audited, in both directions
#
# After each test, and whenever the engine is idle, the kit compares the pool with the block tables: every block is free or referenced, and each reference has a holder. The comparison is an **equality**, and the sign says which fault to look for:

# %%
from inference_kit.kv import audit_blocks

books = {"free": [2, 3], "references": [1, 2, 0, 0], "tables": [[0, 1], [1]]}
faulty = {
    "right books": {},
    "block 2 is lost": {"free": [3]},
    "block 1 is held and free": {"free": [1, 2, 3]},
    "a reference nobody holds": {"references": [1, 3, 0, 0]},
    "a holder without a reference": {"references": [1, 1, 0, 0]},
    "both at once": {"free": [1, 3]},
}
rows = [["books", "audit", "what will happen"]]
for name, change in faulty.items():
    faults = audit_blocks(**(books | change))
    meaning = {True: "wrong answers", False: "memory shrinks"}
    rows.append(
        [name, faults or "right", " and ".join(meaning[number > 0] for number in faults.values()) or "–"]
    )
viz.grid(rows, "The audit", [(row, 1) for row in range(2, 7)])

# %% [markdown]
# The last line is why totals are not enough: four blocks are accounted for, and two faults are there.
#
# ## 6. Copy-on-write
#
# Reading a shared block is always safe. Writing is not. The full blocks of a prompt are never written again. The part-filled *last* block of a prompt is: each sample wants to put its own first token into the same slot. The rule:
#
# > Before a write, look at the blocks that it touches. A block with more than one reference is replaced by a fresh one; the old contents are copied; our reference to the original is dropped.
#
# With a prompt of 6 tokens in blocks of 4, two samples, and different first words:

# %%
from inference_kit.kv import prepare_write


def two_samples(copies_are_made):
    pool, memory = CountedPool(8, 4), ChecksumMemory(8, 4)
    prompt = [1, 2, 3, 4, 5, 6]
    first = pool.allocate(2)
    memory.step(first, 0, prompt)
    pool.retain(first)
    tables, words = {"a": first, "b": list(first)}, {"a": 10, "b": 20}
    for name, word in words.items():
        if copies_are_made:
            tables[name], copies = prepare_write(pool, tables[name], 6, 7)
            memory.copy(copies)
        memory.step(tables[name], 6, [word])
    # Now each of them reads everything back, and goes on by one token.
    said = {name: memory.step(tables[name], 7, [30]) for name in tables}
    right = {name: continuation([*prompt, words[name], 30], 1)[0] for name in tables}
    return said, right, len({block for table in tables.values() for block in table})


for copies_are_made in (False, True):
    said, right, blocks = two_samples(copies_are_made)
    print(f"copies: {copies_are_made!s:5}  blocks: {blocks}  said: {said}  right: {right}")

# %% [markdown]
# Without the copy two blocks are enough, and sample *a* reads the word of sample *b*. With it, three blocks serve both: one shared, two of their own. Without any sharing it would be four. The second sample needs no copy any more: after the first one took its own block, the original has one holder left, and that one may write in place.
#
# In the kit, the manager does this when a request is admitted or grows (`KVManager.grow`), and the pairs of (source, destination) blocks travel with the step's plan. The runner copies them before it computes anything.
#
# ## 7. How large is a block?
#
# Measured on the workload of section 2:

# %%
rows = [["block size", "requests at once", "held in vain", "table of 1,000 tokens"]]
for size in (1, 4, 16, 64, 256):
    (running, written, unused, free), _ = in_pages(block_size=size)
    rows.append([size, f"{running:.1f}", f"{100 * unused / 4096:.1f} %", -(-1000 // size)])
viz.grid(rows, "Block sizes", [(3, 0)])

# %% [markdown]
# On average half a block is empty at the end of each request. Small blocks waste least. Large ones make tables short, and let the kernel read memory in longer pieces. Sharing works in whole blocks, so large blocks also share less. The kit's default is 16.
#
# ## 8. Trade-offs
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | pages instead of one piece | no gaps, no reservation; more than twice as many requests at once in section 2 | each access goes through a table; the attention kernel must know it |
# | no reservation for growth | memory is used for what is there | a request may find no block in the middle of its answer: preemption, or a policy that reserves |
# | reference counts | sharing at O(1) a block; an end is O(blocks of the request) | one forgotten retain gives wrong answers without an error; one forgotten free is a leak |
# | all-or-nothing allocation | nobody gets stuck with half of what it needs | the caller must ask once for everything, so it must count first |
# | copy-on-write | samples share also the part-filled block | one copy and one block more for each sample but the last |
# | an audit at rest | both kinds of fault are found on the first day | O(blocks + tables) at each idle moment; too much for every step |
# | counts on the host, contents on the device | the pool is plain Python, tested without a device | tables must be sent to the device each step |
#
# Diagnosis, from the side of the memory:
#
# | you see | look at |
# |---|---|
# | long queue wait, free blocks at zero | the pool is too small for the load: admission capacity, limits of answers, block budget |
# | many preemptions | too many admitted for their growth: watermark, a reserving policy |
# | many out-of-memory ends or queue timeouts | KV budget and limits; a request that can never fit must be refused at submit |
# | free blocks at rest fall from day to day | a leak: compare references with tables after an idle minute |
# | answers mixed up, no error | a block with more holders than references, or a write without a copy: the two-sided audit, the checksum model in CI |
# | blocks free, and still nothing is admitted | free blocks counted wrongly: kept blocks that are hits are not free space as well |
#
# ## 9. How others do it
#
# Read in the code of each project; the file is named, and newer versions may differ.
#
# | engine | files | what is worth noting |
# |---|---|---|
# | vLLM V1 | `vllm/v1/core/block_pool.py`, `vllm/v1/core/kv_cache_utils.py`, `vllm/v1/worker/block_table.py`, `vllm/v1/engine/parallel_sampling.py` | each block object carries `ref_cnt`; free blocks, the cached ones among them, stand in a doubly linked list, so that a hit can be taken out of its middle in O(1). Block 0 is a placeholder that is never handed out. Tables are append-only: a comment gives this as the reason why equal blocks are not merged. The slot mapping is computed on the device by a Triton kernel. `n > 1` becomes child requests, each with `n = 1`; with a seed, child *i* gets seed + *i* |
# | SGLang | `python/sglang/srt/mem_cache/allocator/paged.py` | the unit of the interface is the *slot*: `alloc` returns slot numbers, in whole pages. The free pages are one tensor on the device; `alloc` cuts its head off, `free` finds pages with a `unique` over slot // page size. There are no reference counts in this allocator. `None` means "not enough". With a debug flag it checks that no page is free twice |
# | TensorRT-LLM | `cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp` | blocks have `incRefCount` and `decRefCount`; the latter refuses a block without references. The context blocks are allocated once and added to all beams, and a flag says whether the last, part-filled one is shared too. `replaceSharedBlock` gives each beam a block of its own |
# | TGI, backend v3 | `backends/v3/src/queue.rs`, `block_allocator.rs`, `radix.rs` | without prefix caching: a plain vector of free blocks, cut from its end. An allocation is an object, and giving it up (`Drop`) sends the blocks back: the language makes the release path. All slots of a request are reserved at admission: input + max_new_tokens − 1, the formula of section 4 (plus those for speculation). With prefix caching the counts live in the nodes of a radix tree |
# | transformers | `generation/continuous_batching/cache_allocators/` | a ledger stores counts only for blocks with two references or more; one is implicit. A fork shares the fully written blocks and copies the rest at once: copy-on-fork in place of copy-on-write |
#
# The next cell looks into the installed transformers.

# %%
try:
    from transformers.generation.continuous_batching.cache_allocators import cache_allocator as theirs
except ImportError:
    print("this version of transformers has no such module")
else:
    ledger = theirs.BlockLedger()
    ledger.acquire(5)  # block 5 had one holder, which is not written down; now it has two
    print("counts it keeps:", ledger.shared_ref_counts)
    print("one leaves: free?", ledger.release(5), " the other leaves: free?", ledger.release(5))
    print("and a third time: free?", ledger.release(5))

# %% [markdown]
# The last line answers a question for you: is a double free noticed there? It is not; the callers must not do it. The kit refuses it, at the price of one comparison.
#
# ## 10. Questions
#
# **1.** A prompt of 100 tokens, 8 samples of 50 tokens each, blocks of 16. How many blocks at the end, with sharing and without?
#
# <details><summary>Answer</summary>
#
# Each sample needs 100 + 50 − 1 = 149 slots, that is 10 blocks. Without sharing: 80. With sharing, the 6 full blocks of the prompt are there once. The seventh holds 4 tokens of the prompt and is copied for all but the last writer: each sample has its own. So 6 + 8 · 4 = 38.
#
# </details>
#
# **2.** Why is a copy made at the first *write* and not when the sharing begins?
#
# <details><summary>Answer</summary>
#
# Because it may never be needed. A sample that is cancelled before its first token writes nothing, and the last holder writes in place. Copying at once is simpler, and costs a block and a copy for each fork. Both are right; see the last row of section 9.
#
# </details>
#
# **3.** A test runs the engine and checks at the end that "free + used = total". All is well. Which faults can still be there?
#
# <details><summary>Answer</summary>
#
# All those that cancel out: a lost block and a doubled one. And all those in which the count of a block is wrong although the block is "used": a reference without a holder, a holder without a reference. Each block must be compared with the tables by itself.
#
# </details>
#
# **4.** A sequence of 33 tokens is preempted and comes back. Does it get the same blocks?
#
# <details><summary>Answer</summary>
#
# It need not, and nothing depends on it. Its references were dropped, and its tokens are computed again into whatever blocks it gets. Positions stay the same; slots do not. This is also why a slot must never be used as the name of a token.
#
# </details>
#
# **5.** `allocate` could return what it has when too few blocks are free. Why is all-or-nothing better?
#
# <details><summary>Answer</summary>
#
# With half of its blocks a request cannot run, but it holds memory that others need. Two such requests can wait for each other for ever. And the caller has to remember how far it got in order to undo it.
#
# </details>
#
# **6.** Would blocks of one slot be the end of all waste?
#
# <details><summary>Answer</summary>
#
# Of the waste inside blocks, yes. But a table would be as long as the answer, it is sent to the device in each step, and the kernel would fetch every token from somewhere else. SGLang's interface works with single slots, and groups them into pages for the kernels' sake.
#
# </details>
#
# ## References
#
# - Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention* (SOSP 2023): the paper that brought pages to KV.
# - The files named in section 9.
# - The kit: `inference_kit/kv/table.py`, `counted_pool.py`, `audit.py`, `block_pool.py`, `manager.py`.
#
# Next: lab 06.
