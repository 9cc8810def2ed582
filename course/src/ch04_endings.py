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
# # Chapter 4 · Endings
#
# 12 minutes of reading. Then do lab 04.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. Who ends a request?
#
# Chapter 1 showed *that* a request ends once. This one is about *when*, *by whom*, and what is cleaned up. The beginner's answer is a timeout around the call. It ends the waiting of the caller and nothing else: the engine goes on, holds memory, and takes its place in every step. If the caller
# then tries again, there are two of them.
#
# > A deadline belongs where the resources are.
#
# ## 2. Four clocks
#
# Four different things can be late, and each of them points to another part of the system. So there are four clocks:
#
# | clock | from | to | when it fires, look at |
# |---|---|---|---|
# | queue | the queue | the first admission | capacity, admission, priorities |
# | TTFT | the arrival | the first token | queue and prefill together: budget, chunking |
# | inter-token | a token | the next one | the device, the batch size |
# | overall | the arrival | the end | the promise to the customer |
#
# Three rules make them exact. A limit is missed **at equality**. The end is **dated start + limit**, whenever somebody looks. Of several that have passed, **the earliest is the cause**; in a tie the order of the table decides.

# %%
from inference_kit import viz

viz.deadline_clocks(
    {"queue_s": 3.0, "ttft_s": 6.0, "inter_token_s": 2.0, "overall_s": 10.0},
    {"received_at": 1.0, "queued_at": 1.5},
    now=8.0,
)

# %% [markdown]
# Both the queue limit (4.5 s) and the TTFT limit (7 s) have passed at 8 s. The cause is the earlier one. If the answer were "whichever is looked at first", a slow boundary would change the statistics.
#
# ### Clocks that stop
#
# The queue clock ends with the *first* admission. A request that is preempted goes back to the queue, but it is not new there, and its client has seen tokens already: the inter-token clock is the right one, and it runs on through the pause.
#
# The inter-token clock asks whether the *device* stalls. While a request waits for a slow reader it stands still, and another limit runs: the one of chapter 5. Blame is part of the design: each clock must point to one cause.

# %%
marks = {
    "received_at": 0.0,
    "queued_at": 0.0,
    "admitted_at": 1.0,
    "first_token_at": 2.0,
    "last_token_at": 3.0,
}
viz.deadline_clocks(
    {"inter_token_s": 2.0, "overall_s": 12.0}, marks, now=9.0, waits=[(4.0, None)], slow_consumer_s=8.0
)

# %% [markdown]
# When the reader is back, the clock must go on from where it stood. Starting it anew would forgive a stall that had begun before; letting the wait count would end the request at once. So its start is moved on by the wait:

# %%
from inference_kit.lifecycle import moved_on

print("token at 3 s, no reader from 4 s to 9 s: the clock starts at", moved_on(3.0, 4.0, 9.0), "s")
viz.deadline_clocks(
    {"inter_token_s": 2.0, "overall_s": 12.0}, marks, now=9.5, waits=[(4.0, 9.0)], slow_consumer_s=8.0
)

# %% [markdown]
# ## 3. The safe point
#
# A step computes many requests at once. When somebody cancels in the middle of it, nothing can be taken out: the kernels run over the whole batch. On several devices it is worse. A step contains operations in which all ranks take part; if one of them leaves early, the others wait for ever.
#
# So a cancel is a **mark**, and the **step boundary** is the place where marks are read. There the engine asks three things about each request, in this order: has a limit passed? has a part of it failed? was a cancel asked for? The earliest cause wins, and a limit goes before a cancel of the same instant.
#
# The cost is honest: a cancel takes effect up to one step late, and the token of that step is computed for nobody. It is *proposed* and never *committed*. See one:

# %%
import os

from inference_kit import LLM, SamplingParams

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"), progress=False)
core = llm.core
leaves, stays = (core.submit([n, n + 1], SamplingParams(max_tokens=5, ignore_eos=True)) for n in (1, 3))
core.step()
plan = core.scheduler.schedule(core.boundary())
output = core.run(plan)
core.cancel(leaves.request.request_id)
core.commit(plan, output)
while core.has_work:
    core.step()
for name, live in (("cancelled", leaves), ("neighbour", stays)):
    print(name, live.request.finish_reason, dict(live.token_counts))

# %% [markdown]
# ### What must be written down
#
# Three questions have no right answer, only a written one. This kit's answers stand in the docstring of `RequestOutput`'s module, and tests hold the engine to them:

# %%
import inspect

from inference_kit.engine import output as output_module

print(inspect.getdoc(output_module).split("\n\n", 2)[2])

# %% [markdown]
# ## 4. One winner
#
# Signals come from several threads: a timer, a socket, the device. Whoever comes first *in the log* is not whoever was first. So the order is a rule, by time and then by kind: **expire, finish, cancel, arrive, step**. The first end wins. The others are named in the log as what they are: late.

# %%
from inference_kit.lifecycle import settle

signals = [(5.0, "cancel"), (6.0, "step"), (5.0, "finish"), (5.0, "expire")]
winner, late = settle(signals)
print("ends the request:", winner)
print("came too late:   ", late)
print("another order:   ", settle(reversed(signals))[0])

# %% [markdown]
# In the engine the decision and the change of state are one step under a lock (chapter 1). In two processes a lock does not help: there one of them must own the end, and the other one sends it messages.
#
# ## 5. In which order things go
#
# A request holds more than blocks: a stream, a slot, an adapter, a trace. They need each other. A stream that is closed *after* its trace writes into nothing; blocks that go before the kernel that reads them are read by a stranger. The rule is that of any building: what stands on something goes before it.
#
# In one process a list does it: what is taken last is released first. With several owners it becomes a graph, and a resource waits for its *last* owner. That is a reference count, seen from the other side.
#
# A count of owners alone is not enough, though. In the next cell `r1` owns the keys and values, and a stream of `r2` reads from them. When `r1` leaves, they have no owner. They must stay all the same, until that stream goes:

# %%
from inference_kit.lifecycle import leave

needs = {"kv": ["trace"], "stream 1": ["kv", "trace"], "stream 2": ["kv"]}
owners = {"trace": ["r1"], "kv": ["r1"], "adapter": ["r1", "r2"], "stream 1": ["r1"], "stream 2": ["r2"]}
for owner in ("r1", "r2", "r1"):
    freed, owners = leave(owner, owners, needs)
    print(f"{owner} leaves: frees {freed or 'nothing'}; still owned: {owners or 'nothing'}")

# %% [markdown]
# ## 6. Orphans
#
# A gateway that only closes its socket leaves a request behind that nobody waits for. A process that dies leaves all of its own. Three things together find them:
#
# - A **lease**. The holder gives a sign of life; silence for longer than the lease means that it is gone. A short lease finds orphans soon and ends some that were only slow; a long one does the opposite.
# - A **heartbeat** that costs nothing: the stream itself. A client that reads is alive.
# - **Reconciliation** at the start: what the log says, against what is in use.

# %%
from inference_kit.lifecycle import reconcile

recorded = {"r1": ["a", "b"], "r2": ["c"], "r3": ["d"]}
in_use = ["a", "b", "c", "x"]
give_back, fail = reconcile(recorded, in_use)
print(f"give back {give_back}, fail {fail}")

# %% [markdown]
# `x` belongs to nobody, so it is given back. `r3` has lost its block, so it cannot go on. Without the second rule it would compute with somebody else's memory.
#
# In this kit a stream that nobody refers to any more cancels its request, and so does one whose reader is cancelled or whose event loop is closed.
#
# ## 7. How others do it
#
# The second column was read in the code of each project; newer versions may differ.
#
# | engine | how a request ends early | what was not found there |
# |---|---|---|
# | vLLM V1, `vllm/v1/engine/output_processor.py`, `vllm/v1/request.py` | `abort_requests`; an aborted request gets the status FINISHED_ABORTED, and output that still comes for it is ignored | deadlines per request inside the engine |
# | SGLang, `python/sglang/srt/managers/schedule_batch.py` | the end is an object; FINISH_ABORT carries a message | a clock for the gap between tokens |
# | TensorRT-LLM, `tensorrt_llm/executor/result.py` | finish reasons include `timeout` and `cancelled`; a cancelled request marks all of its outputs | separate names for the four clocks |
# | TGI, `router/src/infer/mod.rs` | the stream of a client that went away is dropped; a permit of the semaphore comes back with it | a reason of its own for a cancel |
# | transformers | stopping criteria are asked after each token; see the next cell | a clock between tokens |

# %%
try:
    from transformers import MaxTimeCriteria
except ImportError:
    print("transformers is not installed")
else:
    print(inspect.getdoc(MaxTimeCriteria).split("\n\n")[0])

# %% [markdown]
# ## 8. What it costs
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | deadlines inside the engine | the device works for those who wait | a look at the clocks in each step |
# | (instead: a timeout around the call) | one line | orphans, and more of them under load |
# | ends at the step boundary | no broken batches | up to one step of delay, one token for nobody |
# | four clocks | each end points to a cause | four numbers to choose |
# | (instead: one overall limit) | one number | "it was slow" is all that you learn |
# | leases | a crash does not leak for ever | a slow holder may lose what it has |
#
# ## 9. Questions
#
# **1.** A request is admitted, preempted, and waits in the queue again. Should its queue clock run?
#
# <details><summary>Answer</summary>
#
# No. The queue clock asks whether the system takes new work in time. This request was taken. Its client has seen tokens and waits for the next one, so the inter-token clock runs, and it runs through the preemption.
#
# </details>
#
# **2.** Your steps take 50 ms, and you promise an inter-token limit of 40 ms. What happens?
#
# <details><summary>Answer</summary>
#
# Every request fails at its second token. A limit below the length of a step cannot be met, and no clock can notice it earlier than the boundary. The limit must be several steps long.
#
# </details>
#
# **3.** Why is a failure dated *now* and a limit *start + limit*?
#
# <details><summary>Answer</summary>
#
# A limit has a moment of its own, which does not depend on who looks. A failure has none: all that is known is the boundary at which it was noticed.
#
# </details>
#
# **4.** A deadline and a client's cancel come in the same step. Does it matter which one is logged?
#
# <details><summary>Answer</summary>
#
# For the client, no. For you, yes: timeouts are your problem, cancels are the client's wish, and they are counted apart. If the order of the log decided, the same incident would look different on two days.
#
# </details>
#
# **5.** Which number would you alert on: orphans found, or leases that ended?
#
# <details><summary>Answer</summary>
#
# Orphans that were *really* working, so both together: leases that ended with tokens still being proposed. A lease that ended on an idle request is only housekeeping.
#
# </details>
#
# ## References
#
# - gRPC guides: deadlines, cancellation.
# - C. Gray, D. Cheriton: Leases: an efficient fault-tolerant mechanism for distributed file cache consistency, 1989.
# - Python's documentation of `graphlib`.
# - The files named in section 7.
#
# Next: lab 04.
