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
# # How a language model is served
#
# In this course you build the engine that serves a language model, part by part, and run each of your parts inside a real one.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## The way of a request
#
#     submit → Request → scheduler queue → admit (KV) → plan → model runner → sampler
#            → commit → text → bounded channel → caller
#                     ↘ event log → metrics, traces, replay, pictures
#
# Every lab builds one part of this line. You can read the kit's own version of each part in `inference_kit/`.
#
# ## The map
#
# | lab | you build | chapter | state |
# |---|---|---|---|
# | 00 orientation (30 min) | two practice functions | [chapter 0](ch00_orientation.ipynb) | **here**: [open lab 00](../labs/lab00_orientation/lab00_orientation.ipynb) |
# | 01 lifecycle (90 min) | transition table, replay, settle-once end, release path | [chapter 1](ch01_lifecycle.ipynb) | **here**: [open lab 01](../labs/lab01_lifecycle/lab01_lifecycle.ipynb) |
# | 02 metrics (90 min) | TTFT, TPOT, attribution, goodput | [chapter 2](ch02_metrics.ipynb) | **here**: [open lab 02](../labs/lab02_metrics/lab02_metrics.ipynb) |
# | 03 streaming (120 min) | incremental UTF-8, stop strings | [chapter 3](ch03_streaming.ipynb) | **here**: [open lab 03](../labs/lab03_streaming/lab03_streaming.ipynb) |
# | 04 endings (120 min) | four deadlines, cancel, races with one winner | [chapter 4](ch04_endings.ipynb) | **here**: [open lab 04](../labs/lab04_endings/lab04_endings.ipynb) |
# | 05 backpressure (120 min) | bounded channel, slow-consumer policy | [chapter 5](ch05_backpressure.ipynb) | **here**: [open lab 05](../labs/lab05_backpressure/lab05_backpressure.ipynb) |
# | 06 paged KV (150 min) | block pool, block tables, copy-on-write | [chapter 6](ch06_paged_kv.ipynb) | **here**: [open lab 06](../labs/lab06_paged_kv/lab06_paged_kv.ipynb) |
# | 07 prefix cache (120 min) | chained keys, eviction | – | not written yet |
# | 08 scheduler (180 min) | admission, token budget, chunked prefill, preemption | – | not written yet |
# | 09 model runner (180 min) | paged attention, one decode step of a real Llama | – | not written yet |
# | 10 sampling and speculation (120 min) | sampling, drafts | – | not written yet |
# | 11 serving and observability (150 min) | SSE, metrics, traces | – | not written yet |
# | 12 capacity (150 min) | load curves, simulation, SLO budgets | – | not written yet |
# | fault hunt (180 min) | find, test and repair six planted faults | – | not written yet |
# | final project | a service of your own | – | not written yet |
#
# The last column is checked by a test: a lab that is named *here* exists, and no other does.
#
# ## Where to start
#
# Read [chapter 0](ch00_orientation.ipynb), open lab 00, and go on with chapter 1.
#
# ## Your progress
#
# In a lab, `progress()` shows what passes in that notebook. For a view over all labs the kit can keep a log of your attempts: time, question, and what the check said. It is off until you switch it
# on, it stays on this computer, and it holds none of your code. `log_attempts()` switches it on, `attempts()` shows it, `forget_attempts()` deletes it.

# %%
from inference_kit.labs import progress

progress(everything=True)
