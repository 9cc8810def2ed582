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
# # Chapter 2 · Metrics that do not lie
#
# 14 minutes of reading. Then do lab 02.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## 1. A metric is a pair of boundaries
#
# A server writes down *when* things happened. Everything else is subtraction. So a metric is well defined when two boundaries are named, and a clock:

# %%
from inference_kit import viz
from inference_kit.lifecycle import replay, request_metrics

log = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]
report = replay(log)
viz.metric_spans(report)

# %% [markdown]
# Two rules follow from the picture.
#
# **The parts sum to the whole.** `ttft = queue_wait + preprocessing + prefill`, and `e2e = ttft + decode_time`. This holds exactly, so it is the first test of any log, yours or that of another engine. If it fails, some boundary is wrong or two clocks were mixed.
#
# **A missing boundary gives no number.** A request that was cancelled in the queue has no TTFT. It does not have a TTFT of 0.

# %%
metrics = request_metrics(report)
parts = metrics.queue_wait + metrics.preprocessing + metrics.prefill
print(f"parts {parts} = ttft {metrics.ttft}:", parts == metrics.ttft)

cancelled = request_metrics(replay([*log[:2], ("cancel", 2.5)]))
print({name: value for name, value in cancelled.items() if value is not None})

# %% [markdown]
# All times of one request must come from *one monotonic clock*. A wall clock can be set back in the middle of an answer. And when a request is preempted (chapter 1), nothing that was measured before is rewritten: the client got its first token when it got it. The pause shows as one long gap between two tokens.
#
# ## 2. Two TTFTs
#
# | name | from | to | what it is good for |
# |---|---|---|---|
# | end-to-end TTFT | the request arrives | first token | what the client feels, queue included |
# | engine TTFT | service starts (admission) | first token | what the model and its batch cost |
#
# They differ by the queue. In an idle server that is nothing, so a benchmark on an idle server does not show the difference, and under load the two can be far apart. Add a third one: the client measures on its own side, with the network and the gateway in between.
# Give the three different names. A figure called "TTFT" without a word about its start cannot be compared with anything.

# %%
print(f"end to end {metrics.ttft} s, engine {metrics.ttft - metrics.queue_wait} s: the same request")

# %% [markdown]
# ## 3. Two TPOTs, and a third one
#
# TPOT is the *time per output token*. There are at least two formulas in use:
#
# $$\text{mean gap} = \frac{\text{last} - \text{first}}{n - 1} \qquad\qquad \text{service TPOT} = \frac{\text{finish} - \text{first}}{n}$$
#
# The first one averages the *n − 1* gaps between *n* tokens. The second one divides by *n*, and it ends with the request, not with the last token. Let *g* be the mean gap and *t* the tail from the last token to the finish. From the first token to the finish there are *n − 1* gaps and one tail. What follows from that is question 3 of the lab, so take a pen before you look at the picture.

# %%
from inference_kit.lifecycle import service_tpot, service_tpot_excess

tails = [0.0, 0.5, 1.0, 1.5, 2.0]
viz.latency_curve(
    tails,
    {f"{n} tokens": [service_tpot_excess(n, 1.0, tail) for tail in tails] for n in (2, 5, 50)},
    title="Service TPOT minus mean gap",
    x_label="tail, in mean gaps",
    y_label="difference, in mean gaps",
)

# %% [markdown]
# For long answers the difference is small. For short ones it is not: with two tokens and no tail the second formula shows half of the gap. A service whose answers became shorter looks faster, and nothing happened to the device.
#
# The third figure is the **inter-token latency**: all gaps of all requests in one pot. TPOT counts each request once; inter-token latency counts each gap once, so long answers weigh more. Both are right, and they answer different questions:

# %%
from itertools import pairwise

from inference_kit.lifecycle import mean_gap

short, long = [0.5, 1.5], [0.5 + 0.1 * number for number in range(11)]
gaps = [after - before for times in (short, long) for before, after in pairwise(times)]
print(
    f"mean TPOT {(mean_gap(short) + mean_gap(long)) / 2:.3f} s, mean inter-token latency {sum(gaps) / len(gaps):.3f} s"
)

# %% [markdown]
# And count *tokens*. A streamed chunk can hold several tokens; a text that is tokenized again can have another number of them; the limit that was asked for is not the number that came. Only the engine knows.
#
# ## 4. Which part explains the time?
#
# With the four parts of a request one can ask for the largest share. Below a threshold (the course takes 0.45) the honest answer is *mixed*. An early end keeps its stage and has no share: it did not take long, it stopped.

# %%
from inference_kit.lifecycle import classify_outcome

examples = {
    "the log above": log,
    "long prompt": [*log[:3], ("first_token", 9.0), ("token", 10.0), ("token", 11.0), ("complete", 12.0)],
    "full server": [("arrive", 0.0), ("admit", 20.0), *[(name, at + 20.0) for name, at in log[2:]]],
    "gave up": [log[0], log[1], ("timeout", 2.75)],
}
rows = [["request", "end", "explained by", "share"]]
for name, events in examples.items():
    seen = replay(events)
    where = classify_outcome(seen, request_metrics(seen))
    share = where.dominant_share
    rows.append([name, where.outcome, where.stage, None if share is None else f"{share:.0%}"])
viz.grid(rows, "Attribution", [(row, 2) for row in range(1, len(rows))])

# %% [markdown]
# From the part to the place where you look first:
#
# | what you see | what it usually is | look at |
# |---|---|---|
# | large `queue_wait`, and with it a large TTFT | not enough room to admit | admission: KV blocks, batch slots, the queue bound |
# | small `queue_wait`, large time to the first token | prefill is slow, or decodes go first | chunk size and token budget of a step, prompt lengths, prefix hits |
# | large TPOT | the batch is large, or memory bandwidth is the limit | batch size, KV read per step, quantization |
# | many timeouts or out-of-memory ends | limits and memory do not fit the traffic | KV budget, deadlines, the longest prompt you accept |
# | all parts fine, and the client complains | the time is lost outside | network, proxy buffers, the client's own clock |
#
# The last row is why three times are kept apart: **model time** (prefill and decode), **queue time**, and **client-perceived time**. A batch that goes on computing for a slow reader raises none of the first two; the work piles up as unsent tokens.
#
# ## 5. Denominators and distributions
#
# Every figure has a denominator, and the figures of one table have different ones:
#
# | figure | over |
# |---|---|
# | success rate | all requests that ended |
# | mean TTFT | those with a first token, also when they were cancelled later |
# | mean TPOT | those with two tokens or more |
# | throughput, counts of each end | all requests of a fixed window |
#
# So each figure carries its sample count, and an empty denominator gives *nothing*, not 0. What did not complete is listed: status, stage, tokens already sent.
#
# A mean hides the tail. Report a **distribution**. A histogram is cheap and can be added up over servers, if you keep three things: the number of values, their sum, and the count in each bucket. Means and percentiles of servers cannot be added up:

# %%
from inference_kit.lifecycle import percentile

small, big = [5.0, 5.0, 5.0], [1.0] * 97
print(f"mean of the two means {(5.0 + 1.0) / 2} s, mean of all {sum(small + big) / 100} s")
print(f"p99: {percentile(small, 99)} s and {percentile(big, 99)} s, together {percentile(small + big, 99)} s")


def histogram(values, edges):
    """Count, sum and, for each edge, how many values are at or below it."""
    return {
        "count": len(values),
        "sum": sum(values),
        "at or below": [sum(v <= edge for v in values) for edge in edges],
    }


def added(left, right):
    both = [a + b for a, b in zip(left["at or below"], right["at or below"], strict=True)]
    return {"count": left["count"] + right["count"], "sum": left["sum"] + right["sum"], "at or below": both}


edges = [0.5, 1.0, 2.0, 4.0, 8.0]
merged = added(histogram(small, edges), histogram(big, edges))
print(merged, merged == histogram(small + big, edges))

# %% [markdown]
# Put the edges *around your objective*. With an SLO of 2 s and edges at 1 and 5 s the histogram cannot say how many requests met it. Labels of a histogram are few and of few values: model, end reason, priority class, worker pool. Never a request id or a prompt: each new value is a new time series. The id belongs into the trace.
#
# ## 6. Goodput
#
# Throughput counts what left the server. Goodput counts the answers that ended normally *and* met every objective, per second. The definition fits into one line and hides four decisions:
#
# | decision | this course | why |
# |---|---|---|
# | which ends can be good | stop and length only | a fast error is no answer |
# | who is in the denominator | everyone who was attempted: cancels, timeouts, errors, rejects | or else a server gets better by refusing |
# | an objective that does not apply (TPOT of one token) | ignored | a good one-word answer is a good answer |
# | still running at the end of the window | left out | it is neither |

# %%
from inference_kit.lifecycle import goodput

rows = [
    {"reason": "stop", "ttft": 2.0, "tpot": 1.0, "e2e": 4.0},
    {"reason": "stop", "ttft": 5.0, "tpot": 3.0, "e2e": 11.0},
    {"reason": "client_cancel", "ttft": None, "tpot": None, "e2e": 1.0},
]
print(goodput(rows, window_s=10.0, ttft_slo_s=3.0, tpot_slo_s=2.0))

# %% [markdown]
# ## 7. Who is missing?
#
# Ten requests. Eight wait 1 s, two wait 9 s. Now the limit for waiting becomes 5 s, and nothing else changes:

# %%
before = [1.0] * 8 + [9.0] * 2
after = [1.0] * 8  # the other two gave up at 5 s, without a first token
attempted = [*after, None, None]
print(f"p90 of those who got a token: {percentile(before, 90)} s before, {percentile(after, 90)} s after")
print(f"p90 of everyone who tried:    {percentile(before, 90)} s before, {percentile(attempted, 90)} s after")

# %% [markdown]
# The first line got nine times better, and two people got nothing. This is **survivor bias**: a figure over those who made it improves when the slowest do not make it. Overload does that by itself, for the slowest are the first to run into a limit. In the lab you will see it happen in a server whose traffic doubles.
#
# Two remedies. Count who vanished as worse than everyone: then the percentile of the second line has no value, which is the truth. And print beside every latency figure: arrivals, admissions, rejects, cancels, timeouts, errors, preemptions, in flight. These counters also prove that the admission policy works: without them a queue deadline that fires all day looks like a fast server.
#
# ## 8. A comparison that means something
#
# | hold fixed | or else you measure |
# |---|---|
# | input and output lengths | the workload |
# | concurrency, or the arrival rate | the load |
# | the arrival pattern (even, random, bursts) | the luck of the queue |
# | the cache (cold, or warmed in the same way) | the order of the two runs |
# | backend, weights, data type, hardware | the machine |
# | definitions: start of TTFT, formula of TPOT, who is attempted | two different things |
#
# A real backend can be measured by the same functions when it writes the same things: the event names, ids, the reasons of the ends. The kit's engine does; here is its own log, translated into the small table of the exercise:

# %%
import os

from inference_kit import LLM, SamplingParams
from inference_kit.lifecycle import trace_of

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"), progress=False)
output = llm.generate("Once upon a time", SamplingParams(max_tokens=8))[0]
names = [name for name, _ in trace_of(output.events)]
print(" → ".join(names))
measured = request_metrics(replay(trace_of(output.events)))
print(
    "parts sum to ttft:",
    abs(measured.queue_wait + measured.preprocessing + measured.prefill - measured.ttft) < 1e-9,
)

# %% [markdown]
# ## 9. What you give up
#
# | decision | what you gain | what you pay |
# |---|---|---|
# | TTFT from the arrival | it is what the client feels | not comparable with an engine's own figure |
# | missing is `None` | no invented zeros in a mean | every reader must handle it |
# | the mean gap as TPOT | the tail of an engine does not count as token speed | one-token answers have none |
# | a percentile over all attempted | nobody can vanish | under overload there is no number to show |
# | one log line for each token | any metric can be computed later | memory and time; measure what it costs |
# | few labels | a bounded number of series | one slow request cannot be found in a metric; that is what traces are for |
#
# ## 10. How others do it
#
# Read in the code of each project; the file is named, and other versions may differ.
#
# | engine | TPOT, and what else is worth noting |
# |---|---|
# | vLLM, `vllm/v1/metrics/stats.py` | (last − first)/(n − 1), and **0** for a one-token answer. TTFT starts at the arrival, on the front end's wall clock; queue, prefill and decode times are differences on the engine's monotonic clock. The first scheduling counts, a preemption does not move it |
# | vLLM's benchmark, `vllm/benchmarks/serve.py` | (latency − TTFT)/(n − 1), seen by the client. Latencies are over the successful requests, failed ones are counted beside them. For the mean, one-token answers are left out; for goodput their TPOT counts as 0, so they meet the objective |
# | SGLang, `python/sglang/srt/metrics/collector.py` | no TPOT there: histograms of TTFT, inter-token latency (an interval is divided by the tokens that came in it) and end-to-end latency; aborted requests have a counter of their own |
# | TensorRT-LLM, `tensorrt_llm/metrics/perf_utils.py` | (last − first)/(n − 1) from two tokens on, else none. End-to-end time stops at the last token. A missing time is 0 in the input, so values of 0 are dropped, except for the queue time |
# | TGI, `router/src/server.rs` | inference time / n, where inference time begins with the *start of inference*: prefill is inside. Validation and queue time are reported on their own |
# | transformers, continuous batching | see the next cell |
#
# So one name stands for several formulas on dashboards. Here are three of them, those of section 3 and the one with prefill inside. For two tokens, 1 s of prefill and a gap of 0.1 s without a tail: the mean gap is 0.1 s, the service TPOT 0.05 s, and with the prefill inside it is 0.55 s.

# %%
first, last, start = 1.0, 1.1, 0.0
print(
    f"mean gap {mean_gap([first, last]):.2f}, service {service_tpot([first, last], last):.2f}, from start {(last - start) / 2:.2f}"
)

try:
    from transformers.generation.continuous_batching import requests as theirs
except ImportError:
    print("this version of transformers has no continuous_batching.requests")
else:
    fields = theirs.RequestState.__dataclass_fields__
    times = [name for name in fields if "time" in name or "lifespan" in name]
    print("transformers keeps these times of a request:", ", ".join(times))

# %% [markdown]
# transformers stamps the creation, the start and the end of a request. The times of the tokens are recorded only when asked for (`record_timestamps`), so TPOT is left to the caller.
#
# ## 11. Questions
#
# **1.** Two engines send their tokens at the same moments. One reports a TPOT of 1.3 s, the other one of 3.3 s. Neither has a fault. What happened?
#
# <details><summary>Answer</summary>
#
# They report (finish − first)/n and their tails differ: one ends right after the last token, the other one much later. By the mean gap they are equal. The two formulas agree only for a tail of exactly one mean gap.
#
# </details>
#
# **2.** The number of TTFT samples is larger than the number of completed requests. Is that a fault?
#
# <details><summary>Answer</summary>
#
# No. A request that is cancelled or fails after its first token has a TTFT. It is observed once, at the first token, and never again, also not after a preemption.
#
# </details>
#
# **3.** A dashboard shows the mean TTFT of twenty servers, and their mean. What is wrong, and what should each server have sent?
#
# <details><summary>Answer</summary>
#
# A server with three requests counts as much as one with three thousand. Each should send count and sum (and buckets, for percentiles); then the mean of all is the sum of sums over the sum of counts.
#
# </details>
#
# **4.** After a new build p99 TTFT fell and the number of `queue_deadline` ends rose. Better or worse?
#
# <details><summary>Answer</summary>
#
# That cannot be read from the p99. Those who waited longest have left the list. Look at goodput, or at the percentile over all attempted requests.
#
# </details>
#
# **5.** Why does an early end have no share in the attribution?
#
# <details><summary>Answer</summary>
#
# Its time was cut off. A timeout in prefill at 30 s does not say that prefill takes 30 s. What is known is where it stopped and why, so that is what is kept.
#
# </details>
#
# **6.** Your histogram has edges at 0.1, 1 and 10 s, and the objective is 2 s. What share of the requests met it?
#
# <details><summary>Answer</summary>
#
# Unknown: between the share at or below 1 s and the share at or below 10 s. There must be an edge at the objective, and some close to it on both sides.
#
# </details>
#
# ## References
#
# - vLLM documentation: metrics. SGLang documentation: benchmarking and profiling.
# - Prometheus documentation: metric naming, histograms and summaries.
# - OpenTelemetry: semantic conventions for generative AI.
# - The files named in section 10.
#
# Next: lab 02.
