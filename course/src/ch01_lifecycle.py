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
# # Chapter 1 · The life of a request
#
# 12 minutes of reading. Then do lab 01.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. What a request is
#
# A request has three kinds of fields, and it pays to keep them apart:
#
# - **Input**, fixed when it is created: an id, the prompt and its token ids, the limits, the time of arrival, and the channel on which the caller waits. The channel belongs to the *input*: the
#   caller owns the waiting, the engine only settles it.
# - **State**, which changes: where the request stands, which memory blocks it holds, how much of its prompt is computed, which tokens it has made.
# - **Output**, filled at the end: why it ended, when, and what can be measured from that.
#
# This chapter is about the middle one, and about the moment in which the third one is written.
#
# ## 2. Twelve states

# %%
from inference_kit import viz

viz.state_diagram()

# %% [markdown]
# | state | what happens there | what the request holds |
# |---|---|---|
# | received, tokenized | parameters are checked; the text becomes token ids | nothing on the device |
# | queued | it waits for its turn | a place in the queue |
# | admitted | accepted against tokens, blocks, slots, deadline and priority | a batch slot, its first KV blocks |
# | prefill | the model reads the prompt, perhaps in chunks | a slot, KV blocks that grow |
# | decode | one token after the other | a slot, KV blocks that grow |
# | streaming | a token is committed and waits for the reader's credit | a slot, KV blocks, unsent tokens |
# | preempted | memory was short: the blocks are given back, the tokens are kept | nothing on the device |
# | finished, cancelled, timed_out, failed | it is over | nothing |
#
# Three things are easy to get wrong.
#
# **Chunking and preemption are pauses, not ends.** A preempted request goes back to the queue and continues later. Who waits for it notices only a gap.
#
# **`streaming` is not "the phase of streaming".** Most answers are streamed all the time. The state means one thing: this request has a token that nobody has taken, and may not compute until there is credit again.
#
# **Identity is the list of token ids.** Not the text: two texts can give the same ids, and one text can give different ids in two tokenizers. Everything on the device is keyed by ids.
#
# Press the buttons. Take a request to its end in five different ways, and use *back* to look at where each way parts from the others.

# %%
viz.state_machine()

# %% [markdown]
# ## 3. The line is causal, not a clock
#
# The picture suggests that prefill ends before decode begins, and decode before streaming. For *one token* this is true: it is computed, then committed, then turned into bytes, then sent. For a *server* it is not. While one request reads
# its prompt, another one decodes, and the words of a third are on their way. And for one request the stages overlap as well: while token 8 is computed, token 7 may still wait in a buffer.
#
# So the order in the table is the causal order of one token before it is published. It is a rule about what may depend on what. Two requests in one engine show it: their lifelines overlap, and each of them keeps the order.

# %%
import os

from inference_kit import LLM, SamplingParams

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"))
outputs = llm.generate(
    ["The first request", "The second request is a little longer"], SamplingParams(max_tokens=12)
)
viz.timeline([event for output in outputs for event in output.events], "Two requests in one engine")

# %% [markdown]
# ## 4. Exactly one end
#
# Many *signals* can say that a request is over: the model made its end token, the client went away, a deadline passed, the device reported an error. Several of them can come at the same time. That is normal. What must not happen is that two of them *act*.
#
# > A request ends exactly once. After the end it holds nothing: no KV blocks, no slot, no stream buffer, no trace context. Every later signal does nothing.
#
# A wrong end is not a small fault. It shows as repeated tokens, as memory that is gone until the next restart, as writes to a closed socket, as machines of one group that wait for each other for ever, or as a wrong bill.
#
# Three rules give the exact-once end:
#
# 1. **One owner.** One function, `Request.finalize`, is the only way into a terminal state. The first call wins. All others return `False`.
# 2. **State first, release second.** The request is marked as ended *before* anything is given back. Then a signal that arrives during the release finds an ended request.
# 3. **One release path, idempotent.** Everything that is taken is written into one list together with the function that gives it back. The path takes an entry off the list and then calls it, last taken first. One failing entry does not stop the others.
#
# "Holds nothing" means that the *references* are gone. A block of a shared prefix can stay in the cache for others; the request just does not count as one of its users any more.
#
# ### Three lifecycles, live
#
# A normal stop, a cancel during prefill, and a timeout in the queue. They hold 3, 2 and 0 blocks when the end comes:

# %%
from inference_kit.kv import BlockPool
from inference_kit.lifecycle import Event, Request

WAYS = {
    "normal stop": (["admit", "start_prefill", "start_decode", "pause"], 3, "stop_string"),
    "cancel during prefill": (["admit", "start_prefill"], 2, "client_cancel"),
    "queue timeout": ([], 0, "queue_deadline"),
}
rows = [["lifecycle", "end", "held", "given back", "second signal"]]
for name, (events, blocks, reason) in WAYS.items():
    pool = BlockPool(8, 16)
    request = Request(name)
    for event in ["tokenize", "enqueue", *events]:
        request.move(Event(event), at=0.0)
    ids = pool.allocate(blocks)
    request.hold("kv", lambda pool=pool, ids=ids: pool.free(ids))
    before = pool.num_free
    request.finalize(reason, at=1.0)
    rows.append([name, request.state, blocks, pool.num_free - before, request.finalize("error", at=2.0)])
viz.grid(rows, "Three lifecycles", [(row, 3) for row in (1, 2, 3)])

# %% [markdown]
# The last column is the answer of `finalize` to a second signal: `False`, and nothing happens.
#
# ## 5. Cancelling is cooperative
#
# A cancel is a mark, not a hammer. The engine looks at the marks between two steps, at a *safe point*, and takes the request out of the batch there. A kernel that already runs is not stopped. On several devices it cannot be: if one rank leaves a collective operation early, the others wait for it. So the batch finishes its step, and then the request goes.
#
# Two things must be written down, because users will ask. Are tokens billed that were made and not sent? May the blocks of a cancelled prompt stay in the prefix cache? Either answer can be right. Having none is wrong.
#
# ## 6. The log
#
# Each move writes one line: what happened, when, and where the request stood after it. Metrics, traces, bills and pictures are computed from these lines. So a log must be checked *before* it is used, as a whole:

# %%
from inference_kit.lifecycle import replay

good = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]
print(replay(good))
for name, bad in {
    "token after the end": [*good, ("token", 13.0)],
    "no end": good[:-1],
    "time goes back": [("arrive", 1.0), ("cancel", 0.5)],
}.items():
    try:
        replay(bad)
    except ValueError as error:
        print(f"{name}: refused, {error}")

# %% [markdown]
# A boundary that never came is `None` and not 0. When no boundary is missing, the time to the first token is exactly the sum of its parts: queue wait, preprocessing, prefill. That identity is the first sanity check on any log, yours or another engine's.

# %%
viz.timeline(good, "The log above")

# %% [markdown]
# ## 7. How others name it
#
# The skeleton is the same everywhere: queue, run, end. The names and the extra states differ. The middle column was read in the code of each project; the file is named, and newer versions may differ.
#
# | engine | states or reasons | what is worth noting |
# |---|---|---|
# | small teaching runtimes | SUBMITTED → ADMITTED → PREFILLING → RUNNING → FINISHED, FAILED from any state | five states are enough to begin with; FAILED must carry *why* (timeout, out of memory, shutdown), each counted under its own name |
# | vLLM V1, `vllm/v1/request.py` | WAITING, WAITING_FOR_FSM, WAITING_FOR_REMOTE_KVS, RUNNING, PREEMPTED, then FINISHED_STOPPED, FINISHED_LENGTH_CAPPED, FINISHED_ABORTED, FINISHED_IGNORED | "is it finished?" is a comparison with PREEMPTED: the order of the list carries the meaning. Prefill and decode are *not* states: one counter of computed tokens says how far a request is. The older V0 had a SequenceGroup with several sequences and a SWAPPED status |
# | SGLang, `python/sglang/srt/managers/schedule_batch.py` | the end is an object: FINISH_MATCHED_TOKEN, FINISH_MATCHED_STR, FINISH_LENGTH, FINISH_ABORT; RequestStage names stages for tracing | the reason carries its details, for example which string matched |
# | TensorRT-LLM, `cpp/include/tensorrt_llm/batch_manager/llmRequest.h` | kENCODER_INIT, kCONTEXT_INIT, kGENERATION_IN_PROGRESS, kGENERATION_TO_COMPLETE, kGENERATION_COMPLETE, and several for disaggregated serving | "context" is prefill, "generation" is decode. A comment demands chronological order, because other code compares states by order |
# | TGI, `proto/generate.proto` and the server's token utilities | no state in the interface between router and server: two calls, Prefill and Decode, over batches; reasons are length, end-of-sequence token, stop sequence | a cancelled request has no reason of its own there |
# | transformers, `generation/continuous_batching/requests.py` | read from the installed package in the next cell | |

# %%
from enum import Enum

try:
    from transformers.generation.continuous_batching import requests as theirs
except ImportError:
    print("this version of transformers has no continuous_batching.requests")
else:
    names = [member.name for member in theirs.RequestStatus if isinstance(member, Enum)]
    print("transformers RequestStatus:", " → ".join(names))

# %% [markdown]
# What the table does not show: vLLM, SGLang and transformers do not look every move up in a table that can refuse it. A wrong move is found later, by what it breaks. The kit pays one dictionary lookup per move and gets the refusal at once, with the state, the event and the legal events in the message.
#
# ## 8. What it costs
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | state lives on the request object | simple, fast: O(1) for each move | a crash loses it; somebody must find the orphans after a restart |
# | deadlines are checked by the engine at its step boundary | the end releases the device's resources too | a deadline is noticed at the next boundary, not to the microsecond |
# | (instead: a timeout around the caller's wait) | one line of code | the caller gets an error while the device goes on computing for nobody |
# | one failure ends one request | a bad request harms nobody else | every step needs to know whose fault it was |
# | (instead: fail everything on an error) | simple | one out-of-memory ends every running answer |
# | TTFT is measured from the arrival | it is what the client feels | it cannot be compared with an engine-internal TTFT, which leaves the queue out |
#
# Costs per step: at each boundary the engine looks at every live request, the waiting ones too, and there are two boundaries in a step. Costs per end: the blocks of this request, and a search
# for it in the lists of waiting and running requests. Neither grows with the number of requests that have ended before.
#
# ## 9. Questions
#
# **1.** A deadline and the last token come in the same step. Which end should win?
#
# <details><summary>Answer</summary>
#
# The first one that is committed, and the order must be a rule instead of an accident. In this kit a step looks at the deadlines twice: before it plans, and again after it has run, before any result is committed. So a deadline that passed while the step ran beats the token that the step computed: the request is *timed out*, and that token is dropped. Only when no deadline has passed by then is the token committed, and if it is the last one, the end is *finished*. What matters: one of them wins, the other one returns `False`.
#
# </details>
#
# **2.** Why must the state change *before* the release, and not after it?
#
# <details><summary>Answer</summary>
#
# Because the release can cause the next signal: closing a stream tells the client's side, which cancels. If the request still looks alive at that moment, the cancel wins as well, and everything is given back twice.
#
# </details>
#
# **3.** `finalize` uses a lock. What does the lock protect, and what does it not?
#
# <details><summary>Answer</summary>
#
# It protects the decision: test and move are one step, so two threads cannot both be first. It is not needed for the release, because only the winner gets there. And it protects nothing across two processes: there the owner must be one process, and signals must be messages to it.
#
# </details>
#
# **4.** A log says: arrive 0, admit 1, token 3, complete 4. What is wrong, and what would a program report that does not check?
#
# <details><summary>Answer</summary>
#
# `input_ready` and `first_token` are missing, so the log is illegal. A program that takes the first token it sees would report a TTFT of 3 s and look sane. That is why the whole log is refused.
#
# </details>
#
# **5.** Streaming adds one state to the small machine of section 7, and some fields. Which?
#
# <details><summary>Answer</summary>
#
# The state in which a token is committed and waits for credit (*streaming*). Fields: what has been sent, what is unsent, the bytes of an incomplete character, the text that is held back because it may become a stop string.
#
# </details>
#
# **6.** "After the end, KV is zero." Does that forbid a prefix cache?
#
# <details><summary>Answer</summary>
#
# No. It says that this *request* has no reference to any block. Blocks with a reference of the cache, or of another request, stay.
#
# </details>
#
# ## References
#
# - gRPC guides: flow control, deadlines, cancellation.
# - OpenTelemetry: traces, and the semantic conventions for generative AI.
# - Prometheus documentation: metric naming, histograms.
# - vLLM documentation: metrics.
# - The files named in section 7.
#
# Next: lab 01.
