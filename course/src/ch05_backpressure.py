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
# # Chapter 5 · Backpressure
#
# 12 minutes of reading. Then do lab 05.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. Two speeds
#
# A model makes tokens at its speed. A reader takes them at another one. If the reader is faster, it waits, and nothing is wrong. If the *model* is faster, something has to give. There are exactly four things that can:
#
# 1. **Memory**: tokens pile up.
# 2. **Tokens**: some are thrown away.
# 3. **Other requests**: whoever writes to the slow reader waits, and everybody behind waits too.
# 4. **The producer of this one request**: it makes no more tokens for a while.
#
# Only the fourth is backpressure. The first one works until the mean speeds differ for long enough: if more is made than taken on average, a list without a bound grows until the answer, the memory or somebody's patience ends.
#
# ## 2. The law
#
# > waits(t+1) = waits(t) + made(t) − taken(t),  taken = min(what the reader wants, what waits),  made only while waits < capacity
#
# Play it. The reader takes one token in ticks 0, 4 and 6; the request has a deadline at tick 8.

# %%
from inference_kit import viz

DRAINS = [1, 0, 0, 0, 1, 0, 1, 0, 0]
viz.backpressure(drains=DRAINS, tokens="ABCDEFG", capacity=3, deadline_tick=8)

# %% [markdown]
# Both sides send `AB`, for the reader decides that. The difference is what the device did: five tokens for nobody on the left, three on the right. With a longer answer the left number grows, the right one does not.
#
# At tick 8 two things happen at once: the deadline passes, and a cancel arrives. The deadline is first by rule, the cancel finds an ended request and does nothing, and there is one clean-up. That is chapter 1 again.
#
# ## 3. The chain
#
# A bound is worth nothing if the one who is stopped is the wrong one. The stop must travel backwards, link by link:
#
# | link | what "full" means there | what it does |
# |---|---|---|
# | the reader's machine | its window is used up (TCP, HTTP/2) | takes no more bytes |
# | the server's send buffer | high-water mark | the writer of *this* response waits |
# | the channel of this request | `unsent` at the high mark | says `paused`; takes what it is given all the same |
# | the scheduler | this request is not eligible | plans other requests |
# | the device | – | computes for those who read |
# | a limit | the pause has lasted too long | ends the request, gives its KV back |
#
# Three rules keep it harmless. The channel **never blocks**: the thread that runs the model is never the one that waits. It **never drops**: the token is computed, so it is delivered. And what waits **merges**: a reader who comes back gets one large piece instead of many small ones.
#
# In this kit a request that waits for credit is in the state `streaming`, and one that may compute is in `decode`. See a slow reader's request move between the two:

# %%
import os

from inference_kit import LLM, SamplingParams

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"), progress=False, channel_high=4, channel_low=1)
core = llm.core
live = core.submit([1, 2, 3], SamplingParams(max_tokens=12, ignore_eos=True))
steps = 0
while core.has_work:
    core.step()
    steps += 1
    if steps % 6 == 0:
        live.take(3)
rest = live.take()
print(f"{steps} steps for 12 tokens, at most {core.config.channel_high} of them waiting")
print("events:", ", ".join(line.event for line in live.request.events))

# %%
viz.timeline(live.request.events, "A slow reader")

# %% [markdown]
# ## 4. What a small buffer costs
#
# If a bound is good, is a small bound better? Simulate a reader who is fast and has gaps: it takes nothing for six ticks, then up to three tokens a tick for four.

# %%
from inference_kit.streaming import run_client

TOKENS = "abcdefghijklmnopqrstuvwxyz" * 2
GAPS = ([0] * 6 + [3] * 4) * 20


def measure(capacity):
    """How long the answer takes, how often the stream pauses and wakes, and how much waits at the end."""
    last = next(
        end
        for end in range(len(GAPS))
        if len(run_client(TOKENS, GAPS[:end], capacity, 999)["sent"]) == len(TOKENS)
    )
    paused = run_client(TOKENS, GAPS[:last], capacity, 999)["paused_ticks"]
    wakes = sum(1 for tick in paused if tick + 1 not in paused)
    return last, len(paused), wakes


rows = [["capacity", "ticks until all is read", "paused ticks", "wake-ups"]]
for capacity in (1, 2, 4, 8, None):
    rows.append(["no bound" if capacity is None else capacity, *measure(capacity)])
viz.grid(rows, "One answer of 52 tokens, a reader with gaps")

# %% [markdown]
# A buffer that does not cover the gap makes the device stand still while the reader is away, and then the reader waits for the device. The time between tokens that the reader sees becomes uneven, each wake-up is work for the scheduler, and a request that pauses leaves a hole in the batch. So the marks
# follow from the gaps that are normal on the readers' network: the high mark covers one of them; the low mark is far enough below it that pauses are rare.
#
# ## 5. The slow consumer
#
# A pause holds KV blocks and a slot of the batch. It must have a limit. When it passes, the request ends with a reason of its own, `slow_consumer`: it is not a timeout of the model, and a dashboard must not count it as one. For the same reason the *inter-token* clock stands still during a pause. That clock
# asks whether the device stalls; here the reader does.
#
# ## 6. Four counts
#
# | count | is | answers the question |
# |---|---|---|
# | proposed | all that was computed, drafts included | what did the device do? |
# | committed | what became part of an answer | what is billed, by the usual policy? |
# | unsent | committed and not taken | how much would be lost if the readers left now? |
# | sent | taken by the reader | what did people get? |
#
# "Tokens per second" without a word in front says nothing. A server can have a proud number of proposed tokens and send half of them.

# %%
print(dict(live.token_counts))
print({name: value for name, value in core.snapshot().items() if name.endswith("_tokens")})

# %% [markdown]
# ## 7. How others do it
#
# The second column was read in the code of each project; newer versions may differ.
#
# | engine | between the engine and the reader | does it reach the scheduler? |
# |---|---|---|
# | vLLM V1, `vllm/v1/engine/output_processor.py` | a queue for each request, filled with `put_nowait`; no bound was found there | no: a slow reader's request goes on to its end. The number of waiting requests can be bounded |
# | SGLang, `python/sglang/srt/managers/tokenizer_manager.py` | a list for each request, and an event that wakes its reader | no bound on the list was found |
# | TGI, `router/src/infer/mod.rs` | an unbounded stream for each request; a semaphore bounds how many requests there are | no |
# | TensorRT-LLM, `tensorrt_llm/llmapi/utils.py` | an `AsyncQueue` on a deque without a bound | no |
# | transformers | read from the installed package in the next cell | |
#
# For a chat in a browser that is a reasonable choice: an answer has a few thousand tokens at most, and a token is a few bytes. It stops being reasonable with long answers, many slow readers, and KV memory that somebody else waits for.

# %%
import inspect

try:
    from transformers import TextIteratorStreamer
except ImportError:
    print("transformers is not installed")
else:
    made = [
        line.strip()
        for line in inspect.getsource(TextIteratorStreamer.__init__).split("\n")
        if "Queue(" in line
    ]
    print("TextIteratorStreamer:", *made)

# %% [markdown]
# ## 8. What it costs
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | credit for each request | one slow reader harms nobody | a look at each request's credit in each step |
# | (instead: the writer waits) | no code | head-of-line blocking: one reader stops all |
# | (instead: drop the oldest) | bounded memory | holes in the text, and the device works for nobody |
# | two marks | few changes between running and paused | up to one high mark of tokens waits |
# | a limit on the pause | KV comes back | a reader with a long gap loses its request |
# | tokens merge | a late reader gets one piece | pieces have no fixed size |
#
# ## 9. Questions
#
# **1.** Your channel has a bound of 64 tokens, and a step can make 8 tokens for a request. How much can wait?
#
# <details><summary>Answer</summary>
#
# At most 72: credit is looked at between steps, and a step that begins with credit makes all its tokens. The bound is the high mark plus one step. What matters is that the number is known.
#
# </details>
#
# **2.** Why is it wrong to end a paused request by the inter-token deadline?
#
# <details><summary>Answer</summary>
#
# That deadline says: the device takes too long for the next token. Here the device could make it at once. The cause is the reader, so the end has another name and another limit, and the person who reads the dashboard looks in the right place.
#
# </details>
#
# **3.** A proxy stands between server and reader and buffers 1 MB. What does the server see of a slow reader?
#
# <details><summary>Answer</summary>
#
# Nothing, until the proxy's buffer is full. A megabyte is more text than any answer has, so the server computes every answer to its end. Each buffer on the way hides the reader from the one before it. Backpressure works only as well as its most generous link.
#
# </details>
#
# **4.** All 32 running requests are paused, and 100 wait in the queue. What should happen?
#
# <details><summary>Answer</summary>
#
# The paused ones hold all slots and much of the KV. Their limit must be short enough that the queue moves, or the engine may preempt a paused request: it loses nothing that its reader has not got. Which of the two is policy; having neither is a standstill.
#
# </details>
#
# **5.** Where is the unit wrong in "the buffer holds 64 chunks"?
#
# <details><summary>Answer</summary>
#
# Chunks merge and split, so their number says little. Memory, device work and KV are counted in tokens.
#
# </details>
#
# ## References
#
# - gRPC guides: flow control.
# - HTTP/2, RFC 9113: flow control windows.
# - Reactive Streams: demand as a number that the consumer hands to the producer.
# - The files named in section 7.
#
# Next: lab 05.
