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
# 14 minutes of reading. Then do lab 05.
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
# Both sides send `AB`, for the reader decides that. The difference is what the device did: five tokens for nobody without a bound (upper row), three with it (lower row). With a longer answer the first number grows, the second does not.
#
# How long can the list get? That depends on the two *mean* speeds. Here one token is made in each tick, and the reader takes `rate` tokens a tick on average. The cell shows what waits after 100, 1,000 and 10,000 ticks.

# %%
from inference_kit.streaming import tick


def waiting_after(rate, capacity, checkpoints=(100, 1_000, 10_000)):
    """What waits at some ticks, for a reader of a constant mean speed and an answer without an end."""
    level, credit, seen = 0, 0.0, []
    for now in range(1, checkpoints[-1] + 1):
        credit += rate
        drain = int(credit)
        credit -= drain
        consumed, produced = tick(level, drain, capacity, True)
        level += produced - consumed
        if now in checkpoints:
            seen.append(level)
    return seen


rows = [["reader's tokens a tick", "bound", "after 100", "after 1,000", "after 10,000"]]
for rate, capacity in ((1.0, None), (0.9, None), (0.5, None), (0.5, 64)):
    rows.append([rate, "none" if capacity is None else capacity, *waiting_after(rate, capacity)])
viz.grid(rows, "What waits", [(3, 4), (4, 4)])

# %% [markdown]
# A reader that is ten per cent too slow is enough: the list grows for as long as the answer goes on. Throwing tokens away would bound the list too. But each of them was computed, so the device would go on working for nobody. Only the rule "made only while waits < capacity" stops the work itself.
#
# Now the worked client on the engine, with a clock that we move by hand. The channel holds three tokens. At tick 8 two things happen at once: the deadline passes, and a cancel arrives.

# %%
from inference_kit import Deadlines, EngineConfig, SamplingParams
from inference_kit.clock import VirtualClock
from inference_kit.engine.build import build_core, load_model

config = EngineConfig(model="tiny", channel_high=3, channel_low=2)
clock = VirtualClock()
core = build_core(config, load_model(config, progress=False), clock=clock)
client = core.submit([1], SamplingParams(max_tokens=7, ignore_eos=True), Deadlines(overall_s=8.0))
rows = [["tick", "reader takes", "generated", "sent", "state", "blocks held"]]
for now, drain in enumerate(DRAINS):
    clock.advance_to(float(now))
    if now == 8:
        core.cancel(client.request.request_id)
    if drain:
        client.take(1)
    core.step()
    held = core.snapshot()["kv_blocks"] - core.snapshot()["kv_blocks_free"]
    counts = client.token_counts
    rows.append([now, drain, counts.committed, counts.sent, str(client.request.state), held])
ends = [
    line.event for line in client.request.events if line.event in ("time_out", "cancel", "finish", "fail")
]
viz.grid(
    rows,
    "The worked client on the engine",
    [(9, 4), (9, 5)],
    f"ends: {', '.join(ends)}; reason: {client.request.finish_reason}; unsent for ever: {client.token_counts.unsent}",
)

# %% [markdown]
# The state is that after the tick: the token of tick 2 filled the channel, so the request waits from then on. In ticks 4 and 6 the reader came first, one token was made, and the channel was full again.
#
# Five tokens, two of them sent, three made for nobody, as in the player. The deadline is first by rule. The cancel finds an ended request and does nothing. There is one end, and no block is held after it. That is chapter 1 again.
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

from inference_kit import LLM

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
# If a bound is good, is a small bound better? Simulate a reader who is fast and has gaps: it takes nothing for six ticks, then up to three tokens a tick for four. We measure what the answer costs:
#
# - **pauses**: each one ends with a wake-up of the scheduler;
# - **in the batch**: the share of ticks in which the request makes a token, until it has made all. The rest are holes in the batch;
# - **TPOT**: the ticks between one token and the next one, as the device makes them: mean, standard deviation (the *jitter*) and the longest.

# %%
from itertools import pairwise
from statistics import mean, pstdev

TOTAL = 52
GAPS = ([0] * 6 + [3] * 4) * 20


def measure(capacity):
    """Ticks until all is read, pauses, share in the batch, and TPOT: mean, deviation, longest."""
    level, read, pauses, was_paused, made_at = 0, 0, 0, False, []
    for now, drain in enumerate(GAPS):
        has_more = len(made_at) < TOTAL
        consumed, produced = tick(level, drain, capacity, has_more)
        level += produced - consumed
        read += consumed
        made_at += [now] * produced
        is_paused = has_more and not produced
        pauses += is_paused and not was_paused
        was_paused = is_paused
        if read == TOTAL:
            break
    share = TOTAL / (made_at[-1] + 1)
    between = [later - earlier for earlier, later in pairwise(made_at)]
    return now + 1, pauses, f"{share:.0%}", f"{mean(between):.2f}", f"{pstdev(between):.2f}", max(between)


rows = [["capacity", "ticks until all is read", "pauses", "in the batch", "mean TPOT", "jitter", "longest"]]
for capacity in (1, 2, 4, 8, None):
    rows.append(["no bound" if capacity is None else capacity, *measure(capacity)])
viz.grid(rows, "One answer of 52 tokens, a reader with gaps", [(1, 5), (4, 5)])

# %% [markdown]
# This reader takes more than the device makes, on average: 12 tokens in ten ticks against 10. Only its gaps hurt. A buffer of 8 covers a gap, and nothing is lost. A buffer of 1 makes the device stand still in each gap; then the reader comes back and waits for the device. The answer takes more than twice as long, TPOT jumps between 1 and 7 ticks, and
# the request leaves more holes in the batch than it fills. So the high mark follows from the gaps that are normal on the readers' network: it covers one of them.
#
# And the low mark? Take a reader that is slow for good, one token in two ticks, with a high mark of 8.

# %%
from inference_kit.streaming import PlainChannel


def pauses_with(low, high=8, total=200):
    """How often an answer of `total` tokens pauses, and how many ticks it takes."""
    channel, made, pauses, now = PlainChannel(high, low), 0, 0, 0
    while channel.sent < total:
        if now % 2:
            channel.take(1)
        if made < total and not channel.paused:
            channel.put("x", [made])
            made += 1
            pauses += channel.paused
        now += 1
    return pauses, now


rows = [["low mark", "pauses", "ticks until all is read"]]
rows += [[low, *pauses_with(low)] for low in (7, 6, 4, 2, 0)]
viz.grid(rows, "High mark 8, a reader that is slow for good", [(1, 1), (5, 1)])

# %% [markdown]
# With a low mark of 7 there is, in effect, one mark: the request stops and goes on for nearly every token. Each pause is a wake-up and a change of the batch. A low mark far below the high one makes pauses few, and here the reader gets its answer just as early. At 0 the reader may find an empty channel before the first new token comes; a mark in the
# middle avoids that.
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
# | vLLM V1, `vllm/v1/engine/output_processor.py` | a `RequestOutputCollector` for each request: one place. If the reader has not come, new output is merged into what stands there; the put never waits. No bound on what is merged was found | not in this file: nothing in the collector tells anybody that a reader is late |
# | SGLang, `python/sglang/srt/managers/tokenizer_manager.py` | a list (`out_list`) for each request, and an event that wakes its reader. The reader empties the list; with incremental streaming, several pieces become one | no bound on the list was found |
# | TGI, `backends/v3/src/backend.rs` | an unbounded tokio channel for each request. When the reader is *gone*, the send fails, and the request leaves the batch | a reader who is gone, yes; one who is slow, no |
# | TensorRT-LLM, `tensorrt_llm/llmapi/utils.py` | an `AsyncQueue` on a deque without a bound | not in this file |
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
# ## 9. Diagnosis
#
# | you see | look at |
# |---|---|
# | TPOT is large and uneven for some requests only, the device is not busy | the time that they spend in `streaming`: a slow reader, or a high mark that does not cover its gaps |
# | TPOT is large for all | not here: batch size and memory bandwidth |
# | one stalled client, and everybody's tokens stop | head-of-line blocking: somebody *waits* on one reader in the thread of the engine |
# | memory of the server (not of the device) grows with the number of slow readers | a list without a bound, or a proxy that buffers |
# | many ends with `slow_consumer` | the limit is shorter than the gaps of the network; or clients hold connections that they do not read |
# | queue wait grows, the slots are taken, few tokens are made | paused requests hold slots and KV: shorten the limit |
# | proposed or committed tokens a second are fine, sent ones are not | device work for nobody: look at unsent tokens at the end of requests |
# | the scheduler wakes up for each token of a stream | the two marks are too close |
#
# ## 10. Questions
#
# **1.** Your channel has a bound of 64 tokens, and a step can make 8 tokens for a request. How much can wait?
#
# <details><summary>Answer</summary>
#
# 71. Credit is looked at between steps. A step that begins with credit begins with 63 tokens at most, and it makes all its 8. People write the bound down as "the high mark plus one step": 72, simple, and never reached. What matters is that there is a number.
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
# - The kit: `inference_kit/streaming/channel.py`, `inference_kit/streaming/ticks.py`, `inference_kit/engine/core.py`.
#
# Next: lab 05.
