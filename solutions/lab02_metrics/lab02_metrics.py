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
# # Lab 02 · Metrics that do not lie
#
# | | |
# |---|---|
# | Difficulty | ●●○○○ |
# | Time | 90 minutes |
# | You build | the durations of a request, the mean gap and how another formula differs from it, attribution, denominators, goodput, a percentile that nobody can vanish from |
# | It plugs into | the telemetry of the running engine |
# | Runs on | CPU. The seven questions need Python only; the last part runs a real model |
# | Read before | `course/ch02_metrics.ipynb` (14 minutes); lab 01 |
#
# <!-- @badge -->
#
# Each question has a **contract**, a **stub** and a **check**. The check says *not done yet*, *wrong* (with the first case that differs) or *done* (and draws what your code did).
# Keep the first line of each answer cell. Hints are folded below each check; `hint("lab02.q1")` shows them one by one.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, show

# %% [markdown]
# ## Why it matters
#
# On Friday the traffic of a chat service doubled. The team had been afraid of that day, and watched one number: the time to the first token that 95 % of
# the answers stay below. It did not rise. It *fell*, by almost a third. The order for new machines was cancelled, and there was cake.
#
# On Monday there were four hundred complaints.
#
# You can run that Friday. `overload` is a small simulated server: 16 slots, a queue with 24 places, clients who leave after 3 seconds without a first token. It runs in virtual
# time, so nothing waits, and the same call always gives the same logs. `old_dashboard` is the number that the team watched.

# %%
from inference_kit.labs.overload import overload
from inference_kit.lifecycle import replay


def old_dashboard(traffic):
    """The TTFT in seconds that 95 % of the completed requests stay below."""
    done = [report for report in map(replay, traffic.logs) if report.status == "completed"]
    ttft = sorted(report.first_token - report.arrive for report in done)
    return ttft[int(0.95 * len(ttft))]


thursday, friday = overload(rps=10), overload(rps=20)
for day, traffic in (("Thursday", thursday), ("Friday", friday)):
    print(f"{day:9} {traffic.rps:3.0f} requests/s   p95 TTFT {old_dashboard(traffic):.2f} s")

# %% [markdown]
# The arithmetic is right, and nobody lied. Before you go on, write down one guess: how can a server that gets twice the work become *faster*?
#
# The number leaves something out. At the end of this lab you will have seen what, and your own dashboard will show it. On the way there you meet three more figures that are
# computed every day and mean something else than their readers think.

# %% [markdown]
# ## The mechanism
#
# A request has **boundaries**: moments that the engine writes into its log. A metric is a duration between two of them, or a count. That is all. In lab 01 you built the reader of
# such logs: `replay` refuses an illegal history and gives a report of the boundaries. Here they are again, with the durations between them:

# %%
DONE = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]
viz.metric_spans(replay(DONE))

# %% [markdown]
# | metric | from | to | it answers |
# |---|---|---|---|
# | `queue_wait` | arrive | admit | was there room? |
# | `preprocessing` | admit | input_ready | how long until the input was ready for the model? |
# | `prefill` | input_ready | first_token | how long did the model read the prompt? |
# | `ttft` | arrive | first_token | how long did the client look at an empty screen? |
# | `token_span` | first_token | last token | how long did tokens come? |
# | `decode_time` | first_token | end | how long until it was over? |
# | `e2e` | arrive | end | how long did the client wait in all? |
#
# Two sums hold whenever no boundary is missing. Both are sanity checks on any log:
# `ttft = queue_wait + preprocessing + prefill`, and `e2e = ttft + decode_time`.
#
# Move the slider. Which metrics exist for each of the four requests? What is `token_span` when there is one token?

# %%
REQUESTS = {
    "completed": DONE,
    "one token": [*DONE[:4], ("complete", 8.0)],
    "cancelled in prefill": [*DONE[:3], ("cancel", 5.0)],
    "timed out in the queue": [DONE[0], ("timeout", 4.0)],
}
viz.flipbook({name: viz.metric_spans(replay(log)) for name, log in REQUESTS.items()}, "request")

# %% [markdown]
# ## Question 1 · Durations between boundaries
#
# **Contract.** `durations(report)` takes a report of `replay` and returns a dict with the seven durations of the table above in seconds, and `streamed_tokens`, the number of tokens.
# A boundary that never came is `None` in the report; a duration that needs it is `None` as well. The report has `status`, `stage`, `arrive`, `admit`, `input_ready`, `first_token`, `end`
# and `token_times` (the times of all tokens, the first one included).
#
# | report | durations |
# |---|---|
# | arrive 0, admit 2, input_ready 3, first_token 7, tokens 7, 9, 11, end 12 | queue_wait 2, preprocessing 1, prefill 4, ttft 7, decode_time 5, token_span 4, e2e 12, streamed_tokens 3 |
# | one token at 7, end 8 | token_span 0, decode_time 1, streamed_tokens 1 |
# | cancelled in prefill at 5 | prefill, ttft, decode_time and token_span None; queue_wait 2, preprocessing 1, e2e 5, streamed_tokens 0 |
# | timed out in the queue at 4 | only e2e 4 and streamed_tokens 0; all others None |
# | everything at 0 | all durations 0: a time of 0.0 is a time |
#
# `_gap` is your first answer of lab 00.

# %%
# lab02/q1 — keep this line
Record = dict  # a result is a plain dict: Record(queue_wait=2.0, ...)


# @given inference_kit.lifecycle.metrics:_gap


def durations(report: dict) -> dict:
    """The durations of one request between its boundaries, in seconds, and the number of its tokens."""
    # TODO 1: queue_wait, preprocessing, prefill: each is the _gap of two neighbouring boundaries.
    # TODO 2: ttft and e2e begin when the request arrives; decode_time runs from the first token to the end.
    # TODO 3: token_span runs from the first to the last of token_times; None when there is no token.
    # TODO 4: return the seven durations and streamed_tokens in one dict.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:durations
    ### END SOLUTION


# %%
check("lab02.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Six of the eight values are one call of `_gap` each. It already knows what to do with `None`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `report["token_times"]` can be empty. An empty list has no first and no last item, so ask before you look.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `token_span=tokens[-1] - tokens[0] if tokens else None`. With one token, the first and the last one are the same, and the difference is 0.
#
# </details>
#
# Expected picture (the ends of the bars come from the log, the numbers from the code):

# %%
show("lab02.q1")

# %% [markdown]
# ## Question 2 · The mean gap
#
# How fast do tokens come? The course says **TPOT** (time per output token) for the mean gap between neighbouring tokens.
#
# **Contract.** `mean_gap(token_times)` returns the mean gap in seconds, or `None` when there is no gap.
#
# | call | result |
# |---|---|
# | `mean_gap([7.0, 9.0, 11.0])` | `2.0` |
# | `mean_gap([0.0, 1.0, 5.0])` | `2.5`: the mean, not the middle and not the last gap |
# | `mean_gap([1.0, 1.25, 1.25, 1.75])` | `0.25`: two tokens may come at one time |
# | `mean_gap([3.0, 3.0])` | `0.0`: there is a gap, and it is 0 |
# | `mean_gap([5.0])` | `None`: one token has no gap |
# | `mean_gap([])` | `None` |
#
# Some dashboards write 0 for a one-token answer. Then every *yes* and *no* pulls the mean down, and a service that answers in one word looks fast.


# %%
# lab02/q2 — keep this line
def mean_gap(token_times: list) -> float | None:
    """The mean gap between neighbouring tokens, in seconds; None below two tokens."""
    # TODO 1: give None when there are fewer than two tokens.
    # TODO 2: the gaps add up to last − first. Divide by how many gaps there are.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:mean_gap
    ### END SOLUTION


# %%
check("lab02.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three tokens, two gaps. Two tokens, one gap. One token?
#
# </details>
# <details><summary>Hint 2</summary>
#
# You need no loop. In a sum of neighbouring differences everything cancels but the last and the first time.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `(token_times[-1] - token_times[0]) / (len(token_times) - 1)`, after the test for fewer than two.
#
# </details>
#
# Expected picture:

# %%
show("lab02.q2")

# %% [markdown]
# ## Question 3 · Where the two formulas part
#
# Another runtime reports TPOT as *(finish − first token) / number of tokens*. That looks almost the same. Here are two engines which send their tokens at exactly the same moments, one every 2 seconds.
# They differ only in the time from the last token to the end, the **tail**:

# %%
from inference_kit.lifecycle import service_tpot

times = [7.0, 9.0, 11.0]
rows = [["engine", "tokens at", "end", "mean gap", "(finish − first)/n"]]
for name, end in (("closes at once", 11.0), ("flushes its log first", 17.0)):
    rows.append([name, times, end, (times[-1] - times[0]) / 2, f"{service_tpot(times, end):.3f}"])
viz.grid(rows, "The same tokens, two engines", [(1, 4), (2, 4)])

# %% [markdown]
# No client can see a difference in the tokens, and the second formula says 1.3 against 3.3. When do the two formulas agree? Take a pen.
#
# Let there be *n* tokens with mean gap *g*, and let *t* be the tail. Write *finish − first* with *n*, *g* and *t*. Divide by *n*. Subtract *g*. What stays is short.
#
# **Contract.** `service_tpot_excess(num_tokens, gap_s, tail_s)` returns by how many seconds *(finish − first)/n* lies **above** the mean gap (negative: below it).
# It gets no times: only *n*, *g* and *t*. Without a mean gap (`None`) the answer is `None`.
#
# | call | result |
# |---|---|
# | `service_tpot_excess(3, 2.0, 2.0)` | `0.0`: here they agree |
# | `service_tpot_excess(3, 2.0, 1.0)` | `-1/3`: the trace at the top of this lab, 5/3 against 2 |
# | `service_tpot_excess(2, 1.0, 0.0)` | `-0.5`: two tokens and no tail, and the other formula shows half of the gap |
# | `service_tpot_excess(4, 1.0, 3.0)` | `0.5` |
# | `service_tpot_excess(1, None, 5.0)` | `None` |


# %%
# lab02/q3 — keep this line
def service_tpot_excess(num_tokens: int, gap_s: float | None, tail_s: float) -> float | None:
    """How far (finish − first)/n lies above the mean gap, in seconds; None without a mean gap."""
    # TODO 1: give None when there is no mean gap.
    # TODO 2: derive the difference on paper and write it here.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:service_tpot_excess
    ### END SOLUTION


# %%
check("lab02.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# From the first token to the finish there are *n − 1* gaps and one tail.
#
# </details>
# <details><summary>Hint 2</summary>
#
# ((n − 1)·g + t) / n − g. Bring *g* over the same denominator: g = n·g / n.
#
# </details>
# <details><summary>Hint 3</summary>
#
# (n − 1)·g + t − n·g = t − g. So the difference is `(tail_s - gap_s) / num_tokens`.
#
# </details>
#
# Expected picture. All lines cross zero at the same place: a tail of exactly one gap. The fewer the tokens, the steeper the line.

# %%
show("lab02.q3")

# %% [markdown]
# So the formulas agree only when the end comes exactly one mean gap after the last token. An engine that stops at once reports too little, by *g/n*: half of the gap for two tokens, 1 % for a hundred.
# Before you compare two systems, ask for the formula. The same is true for TTFT: some measure from the arrival, some from the start of service, without the queue.

# %% [markdown]
# ## Question 4 · Where did the time go?
#
# One slow request: should you look at the queue, at the prompt or at the tokens? Take the four parts and see which one explains most. If none of them explains much, say so. A tool that always names
# one culprit is wrong most of the time.
#
# **Contract.** `classify_outcome(report, metrics, threshold=0.45)` returns a dict with `outcome`, `stage` and `dominant_share`. `metrics` is a dict as in question 1; it may hold more than the four parts
# (`queue_wait`, `preprocessing`, `prefill`, `decode_time`). `STAGES` gives the metric of each stage, in order. A share is a part over the sum of the four.
#
# | request | result |
# |---|---|
# | completed; 2, 1, 6, 3 s | outcome `"completed"`, stage `"prefill"`, share 0.5 |
# | completed; 2, 1, 4, 5 s | stage `"mixed"`, share 5/12: the largest share is below 0.45 |
# | completed; 2, 1, 4, 1 s; threshold 0.5 | stage `"prefill"`: a share that equals the threshold is enough |
# | completed; 2, 1, 4, 1 s; threshold 0.75 | stage `"mixed"`, share 0.5 |
# | completed; 3, 0, 3, 0 s | stage `"queued"`: the earlier one of two equal shares |
# | completed; 2, None, None, 6 s | stage `"decode"`, share 0.75: an unknown part explains nothing |
# | completed; 0, 0, 0, 0 s | `ValueError`: there is no time to explain |
# | cancelled in prefill | outcome `"cancelled"`, stage `"prefill"`, share `None` |
# | timed_out in the queue | outcome `"timed_out"`, stage `"queued"`, share `None` |
# | threshold 0.0, -0.1, 1.1 or NaN | `ValueError`, whatever the request; the range is (0, 1] |
#
# `check_number` is given. It raises `ValueError` for a number outside its range; with `low_open=True` the lower end itself is outside too.

# %%
# lab02/q4 — keep this line
Record = dict


def check_number(field, value, low, high, *, low_open=False):
    """Refuse a value outside the range. You do not change this function."""
    if not low <= value <= high or (low_open and value == low):
        raise ValueError(f"{field}={value!r} is not allowed; allowed: {low:g} to {high:g}")


# @given inference_kit.lifecycle.metrics:STAGES


def classify_outcome(report: dict, metrics: dict, threshold: float = 0.45) -> dict:
    """Which stage explains the time of a request: outcome, stage, dominant_share."""
    # TODO 1: refuse a threshold outside (0, 1] with check_number.
    # TODO 2: an end that is not "completed" keeps its status and its stage, and has no share.
    # TODO 3: collect the four parts by stage (None counts as 0); refuse a sum of 0 with a ValueError.
    # TODO 4: take the stage with the largest part, and its share of the sum.
    # TODO 5: below the threshold the stage is "mixed".
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:classify_outcome
    ### END SOLUTION


# %%
check("lab02.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `{stage: metrics[name] or 0.0 for stage, name in STAGES.items()}` gives the four parts, in order.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `max(parts, key=lambda stage: parts[stage])` returns the first of several equal ones. The order of `STAGES` does the rest.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `stage if share >= threshold else "mixed"`: the share is reported in both cases.
#
# </details>
#
# Expected picture:

# %%
show("lab02.q4")

# %% [markdown]
# ## Question 5 · Every figure has its own denominator
#
# "Mean TTFT 4 s, mean TPOT 0.75 s, 50 % success." Over how many? The three figures of one table nearly always have three different denominators, and a figure without its sample count cannot be checked.
#
# Take these four requests, in a window of 8 seconds:
#
# | status | stage | ttft | tpot | streamed_tokens |
# |---|---|---|---|---|
# | completed | decode | 2.0 | 0.5 | 9 |
# | completed | decode | 4.0 | None | 1 |
# | cancelled | decode | 6.0 | 1.0 | 4 |
# | timed_out | queued | None | None | 0 |

# %% [markdown]
# **Contract.** `summarize(rows, window_s=None)` takes such rows (dicts) of requests that have ended and returns a dict. Nothing is left out silently. An empty denominator gives `None`.
#
# | fields, or case | value for the four rows |
# |---|---|
# | `total_requests`, `completed_requests`, `success_rate` | 4, 2, 0.5: over **all that ended** |
# | `ttft_sample_count`, `mean_ttft` | 3, 4.0: over those with a **first token**, the cancelled one too |
# | `tpot_sample_count`, `mean_tpot` | 2, 0.75: over those with **two tokens or more** |
# | `by_status` | `{"completed": 2, "cancelled": 1, "timed_out": 1}` |
# | `throughput_rps` | 0.5: **all** requests over the window; `None` when no window is given |
# | `abnormal` | a list with `{"status", "stage", "streamed_tokens"}` of each request that did not complete, in order |
# | no rows at all | `success_rate`, `mean_ttft`, `mean_tpot` are `None`, all counts 0 |
# | one row that never got a token | the means are `None`, their counts 0 |
# | window of 0 s or -1 s | `ValueError` |
#
# `mean` is your second answer of lab 00: it leaves `None` out and says how many values were left. It takes a list.

# %%
# lab02/q5 — keep this line
from collections import Counter
from collections.abc import Iterable

Record = dict


def check_number(field, value, low, high, *, low_open=False):
    """Refuse a value outside the range. You do not change this function."""
    if not low <= value <= high or (low_open and value == low):
        raise ValueError(f"{field}={value!r} is not allowed; allowed: {low:g} to {high:g}")


# @given inference_kit.lifecycle.metrics:mean


def summarize(rows: list, window_s: float | None = None) -> dict:
    """Figures of a set of ended requests, each with its own denominator."""
    # TODO 1: refuse a window that is not above 0 (when one is given).
    # TODO 2: count the end states; Counter gives 0 for a state that never came.
    # TODO 3: mean and sample count of ttft, and of tpot.
    # TODO 4: success rate over all rows (None without rows), throughput over the window (None without one).
    # TODO 5: list what did not complete, with status, stage and streamed_tokens.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:summarize
    ### END SOLUTION


# %%
check("lab02.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `Counter(row["status"] for row in rows)` is a dict of counts. `dict(counter)` makes a plain one of it.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `mean_ttft, ttft_sample_count = mean([row["ttft"] for row in rows])`. A request without a first token has `None` there and drops out by itself.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `completed / len(rows) if rows else None`. The window has to do with the throughput only.
#
# </details>
#
# Expected picture:

# %%
show("lab02.q5")

# %% [markdown]
# ## Question 6 · Goodput
#
# Throughput counts what left the server. **Goodput** counts what somebody was glad to get: answers that ended normally and met every objective (SLO), per second.
# It is one sentence, and it hides four decisions. Here they are made; write them down with every number you publish.
#
# - *Eligible*: ended by a stop or by its length. Everything else is never good, however fast it was.
# - *Attempted*: cancels, timeouts, errors and rejects are in the denominator.
# - *Not applicable*: an objective for something that does not exist (TPOT of a one-token answer) is ignored.
# - *Cut off*: a request that still runs at the end of the window is left out. It is neither.
#
# **Contract.** `goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None)` returns a dict with `attempted`, `good`, `goodput_rps` (good per second of the window) and `good_share` (good over attempted;
# `None` when nothing was attempted). A row has `reason` (`None`: still running), `ttft`, `tpot` and `e2e` in seconds or `None`. The normal ends are in `GOOD_ENDS`. A limit of `None` asks for nothing.
#
# | rows (reason ttft/tpot), limits | result |
# |---|---|
# | stop 2/1, stop 5/3, client_cancel 1/1 | limits 3 and 2, window 10 s: attempted 3, good 1, goodput_rps 0.1, good_share 1/3 |
# | stop with ttft 3 and tpot 2, limits 3 and 2 | good: an objective is met at equality |
# | client_cancel, timed_out, error, rejected, all of them fast | attempted, not good |
# | stop with ttft 2 and tpot None | good: there is no TPOT to miss |
# | stop with ttft 99, no limit for ttft | good |
# | reason None | not attempted |
# | no rows | attempted 0, good 0, goodput_rps 0.0, good_share None |
# | window of 0 s or -1 s, or a limit of -1 s | `ValueError` |

# %%
# lab02/q6 — keep this line
Record = dict


def check_number(field, value, low, high, *, low_open=False):
    """Refuse a value outside the range. You do not change this function."""
    if not low <= value <= high or (low_open and value == low):
        raise ValueError(f"{field}={value!r} is not allowed; allowed: {low:g} to {high:g}")


# @given inference_kit.lifecycle.metrics:GOOD_ENDS


def goodput(
    rows: list,
    *,
    window_s: float,
    ttft_slo_s: float | None = None,
    tpot_slo_s: float | None = None,
    e2e_slo_s: float | None = None,
) -> dict:
    """Requests that ended well within every objective that applies, per second."""
    # TODO 1: refuse a window that is not above 0, and a limit below 0.
    # TODO 2: leave out what still runs; everything else was attempted.
    # TODO 3: a limit is met when it is None, when the value is None, or when value <= limit.
    # TODO 4: good is a normal end with all limits met. Count them.
    # TODO 5: return attempted, good, goodput_rps and good_share.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:goodput
    ### END SOLUTION


# %%
check("lab02.q6")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Put the three limits into a dict: `{"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}`. Then one loop serves all of them.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())`
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if row["reason"] is None: continue` before anything is counted. `good_share` is `good / attempted if attempted else None`.
#
# </details>
#
# Expected picture: each request alone, and all together below.

# %%
show("lab02.q6")

# %% [markdown]
# ## Question 7 · A percentile that nobody can vanish from
#
# Back to Friday. The team looked at a percentile of the *completed* requests. Whoever gave up or was turned away is not in it. Under overload those are the slowest, so the worse it gets, the more of the bad numbers leave
# the list. This is **survivor bias**.
#
# The repair: keep one entry for *every* attempted request. An entry that was never measured is `None`, and counts as worse than everything measured.
#
# **Contract.** `percentile(values, percent)` returns the smallest value that at least `percent` % of **all** entries stay at or below (nearest rank, no interpolation). If fewer than that were measured, no value is right: `None`.
#
# | call | result |
# |---|---|
# | `percentile([1, 2, 3, 4], 50)` | `2` |
# | `percentile([1, 2, 3, 4], 51)` | `3`: two of four are only 50 % |
# | `percentile([1, 2, 3, 4], 100)` | `4` |
# | `percentile([4, 1, 3, 2], 50)` | `2`: the order means nothing |
# | `percentile([1, 2, None, None], 50)` | `2`: half of **all four** had it by then |
# | `percentile([1, 2, None, None], 75)` | `None`: three quarters never had one |
# | `percentile([], 95)` | `None` |
# | percent of 0, -5 or 100.5 | `ValueError` |

# %%
# lab02/q7 — keep this line
import math


def check_number(field, value, low, high, *, low_open=False):
    """Refuse a value outside the range. You do not change this function."""
    if not low <= value <= high or (low_open and value == low):
        raise ValueError(f"{field}={value!r} is not allowed; allowed: {low:g} to {high:g}")


def percentile(values: list, percent: float) -> float | None:
    """The smallest value that percent % of all entries stay at or below; None is worse than any value."""
    # TODO 1: refuse a percent outside (0, 100].
    # TODO 2: sort the values that are known.
    # TODO 3: the rank is percent % of ALL entries, rounded up; the first place has rank 1.
    # TODO 4: give the known value of that rank, or None when there are not so many.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:percentile
    ### END SOLUTION


# %%
check("lab02.q7")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Think of a queue sorted by value, with everyone who is `None` at the far end. The rank is a place in that queue.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `math.ceil(percent * len(values) / 100)`: `values` and not the known ones. Multiply before you divide, so that whole percents of whole counts stay exact.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Rank 1 is index 0: `known[rank - 1] if 0 < rank <= len(known) else None`.
#
# </details>
#
# Expected picture: the same Friday, counted in two ways. One line ends where no more requests were measured.

# %%
show("lab02.q7")

# %% [markdown]
# ## Watch the bias appear
#
# Now your functions read the simulated server, at one load after the other. `plug` takes your parts that are *done*, and the kit's own for the others, and says so. `parts.rows(traffic)` gives one row for each **arrival**:
# also for those who were turned away (`"rejected"`), and for those who were still in flight at the end (`reason` `None`).

# %%
parts = plug("lab02", globals())
loads = [4, 6, 8, 10, 12, 14, 16, 20, 24]
windows = [parts.rows(overload(rps)) for rps in loads]

survivors = [[row["ttft"] for row in rows if row["status"] == "completed"] for rows in windows]
attempted = [[row["ttft"] for row in rows if row["reason"] is not None] for rows in windows]
viz.latency_curve(
    loads,
    {
        "p95 TTFT of the completed": [parts.percentile(values, 95) for values in survivors],
        "p95 TTFT of all attempted": [parts.percentile(values, 95) for values in attempted],
    },
    slo_s=2.6,
    title="The same server, two dashboards",
)

# %% [markdown]
# Look at the first line between 10 and 20 requests per second: it falls below where it began. The second line ends: from 12 requests per second on, fewer than 95 % of those who came ever saw a token, so there is no such number.
#
# Who vanished? One request in four has a long prompt, which takes 2.5 s to read. With half a second in the queue such a request passes the 3 s that its client is ready to wait. So it is the *long* ones that leave the list, and the short ones, which wait
# almost 2 s for an answer that used to come in 0.3 s, look fast beside them.
#
# Goodput shows it, because whoever leaves is still counted as attempted. The stricter objective shows more: with 1 s for the first token, there is almost nothing left.

# %%
good = {
    f"good, TTFT ≤ {limit} s": [
        parts.goodput(rows, window_s=60.0, ttft_slo_s=limit)["goodput_rps"] for rows in windows
    ]
    for limit in (2.6, 1.0)
}
viz.goodput_curve(loads, good)

# %% [markdown]
# Two days, and what must stand beside any latency figure: arrivals, rejects, cancels, timeouts, errors and what is in flight. Move the slider, and compare the two marked lines.

# %%
days = {
    f"{day}: {traffic.rps:g} requests/s": parts.dashboard(parts.rows(traffic), 60.0, ttft_slo_s=2.6)
    for day, traffic in (("Thursday", thursday), ("Friday", friday))
}
viz.flipbook(days, "day")

# %% [markdown]
# Was your guess right? Try another server: `overload(rps=20, server=Server(max_waiting=200))` with `from inference_kit.labs.overload import Server`. Does a longer queue help? Whom?

# %% [markdown]
# ## Plug your parts into the engine
#
# Now the real thing. The engine's `telemetry` slot takes an event log; the one in `parts.components` hands the log of each request to **your** functions as soon as the request ends.
# The engine writes other names than the exercise (it knows more states); `trace_of` translates: *receive* is *arrive*, *start_prefill* is *input_ready*, and so on. That is all a real backend needs to do to be read by your code:
# the same event names and ids, the same reasons for an end, and a fixed workload.
#
# The model is SmolLM2 (135 million weights, CPU). With the environment variable `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights: it talks nonsense, and is measured by the same rules.

# %%
import os

from inference_kit import LLM, Deadlines, SamplingParams

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
llm = LLM(model, components=parts.components, progress=False)
questions = ["What is the capital of France?", "Name a colour.", "What do bees make?"]
prompts = [llm.chat_prompt([{"role": "user", "content": text}]) for text in questions]

started = llm.core.clock.now()
for max_tokens in (24, 2, 1):
    llm.generate(prompts, SamplingParams(max_tokens=max_tokens))
# A client without any patience: its deadline in the queue passes before the engine can admit it.
llm.generate(prompts[0], SamplingParams(max_tokens=24), deadlines=Deadlines(queue_s=1e-6))
window_s = llm.core.clock.now() - started
parts.table()

# %% [markdown]
# Find the answers with one token: their TPOT is a dash and not 0. Find the request that timed out: it has an end-to-end time and nothing else. In a batch of three, whose time does `prefill` contain?
#
# Both TPOT formulas on the real answers, and what your formula of question 3 says about their difference. The last two columns must agree. Look at the answers with two tokens.

# %%
parts.two_tpots()

# %% [markdown]
# And the dashboard of this small window, each figure with its number of samples:

# %%
parts.dashboard(parts.measured, window_s, ttft_slo_s=2.0, tpot_slo_s=0.2)

# %% [markdown]
# Try a fault. In the answer cell of question 2 write `len(token_times)` instead of `len(token_times) - 1`, run that cell, and then run the cells from `parts = plug(...)` on. `plug` says that `mean_gap` is wrong, and the engine is measured by the kit's own.

# %% [markdown]
# ## Reflection
#
# A colleague sends you one line: *"The new build is 20 % better: p99 TTFT fell from 1.8 s to 1.44 s, measured in production, this Tuesday against last Tuesday."*
#
# In six to ten sentences: which questions do you ask before you believe it, what must be held fixed in a comparison, and which counters must stand beside the number? Name at least one way in which the line can be true while the service got worse.

# %% [markdown]
# <!-- lab02/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *Definition.* Asks where the clock starts and who measured (arrival or start of service; server or client), over which requests (all attempted, or the completed ones), and how many samples a p99 rests on.
# 2. *A controlled comparison.* Input and output lengths, concurrency, arrival pattern, cache state and backend are held fixed; two Tuesdays in production hold none of them. A replay of one fixed workload, or both builds side by side on split traffic, is a good answer.
# 3. *What stands beside it.* Arrivals, admissions, rejects, cancels, timeouts, errors, preemptions and in-flight requests; or goodput with its denominator.
# 4. *A way to be true and worse.* Survivor bias (more rejects or timeouts, so the slow ones are gone), a shorter workload, a warmer cache, a TTFT that leaves the queue out, or a TPOT that got worse while TTFT got better. One of them, explained.
#
# No point for a list of metric names without saying what each one would show.

# %% [markdown]
# ## Quiz
#
# Five questions, answered at once, with a reason for every option. They are not graded.

# %%
from inference_kit.labs import quiz

quiz("lab02")

# %% [markdown]
# ## What to read next
#
# - `course/ch02_metrics.ipynb`: the diagnosis table, distributions, and how other engines define these figures today.
# - The kit's own code: `inference_kit/lifecycle/metrics.py` holds your seven answers with their docstrings. `engine_metrics` in the same file reads the engine's own log, with preemptions.
# - The documentation of vLLM's metrics, and of the benchmark and profiling tools of SGLang: compare their definitions with yours.
