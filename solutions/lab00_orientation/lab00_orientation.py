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
# # Lab 00 · Orientation
#
# | | |
# |---|---|
# | Difficulty | ●○○○○ |
# | Time | 30 minutes |
# | You build | two small functions, to learn how a lab works |
# | It plugs into | nothing yet |
# | Runs on | CPU |
# | Read before | `course/ch00_orientation.ipynb` (5 minutes) |
#
# <!-- @badge -->

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, progress, show

# %% [markdown]
# ## A model answers
#
# The next cell loads a real language model, SmolLM2 with 135 million weights, and asks it something. The first run may take a little while: the model is looked for on this
# machine and fetched once if it is not there. After that it starts in seconds, also without a network.
#
# With the environment variable `INFERENCE_KIT_MODEL=tiny` a small model of random weights answers instead. It talks nonsense, and it needs no file.

# %%
import os

from inference_kit import LLM, SamplingParams

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"))
question = [{"role": "user", "content": "What is the capital of France?"}]
output = llm.chat(question, SamplingParams(max_tokens=24))
print(output.text)

# %% [markdown]
# The engine wrote a log while it worked. Each line says what happened to the request, when, and where the request stood after it:

# %%
for event in output.events[:8]:
    print(f"{event.timestamp - output.events[0].timestamp:8.4f} s  {event.event:14} → {event.state}")

# %% [markdown]
# The same log as a picture. Everything in this course that you will measure, draw or bill comes from such a log.

# %%
viz.timeline(output.events)

# %% [markdown]
# ## How a question works
#
# Each question has three parts: the **contract** says what goes in and what comes out, the **stub** is where you write, the **check** answers at once.
# The check has three words, and they mean different things:
#
# | word | meaning |
# |---|---|
# | **not done yet** | the stub still raises `NotImplementedError`, or its cell has not been run |
# | **wrong** | your code ran; here is the first case that differs: input, expected, got |
# | **done** | all visible checks pass, and you see a picture of what your code did |
#
# Some checks are hidden. They run when your notebook is graded, with other cases of the same kind. The contract says all that they test.
#
# Keep the first line of each answer cell (`# lab00/q1 — keep this line`). The grader finds your answer by it, also after Colab or a copy has renamed everything else.
#
# - **In JupyterLab**: run a cell with Shift+Enter. *Validate* in the toolbar runs the whole notebook as the grader's first look does.
# - **In Colab**: the set-up cell at the top installs the course's package and nothing else. Download the notebook when you are done, and hand that file in.

# %% [markdown]
# ## Question 1 · A gap between two times
#
# **Contract.** `gap(start, end)` returns `end - start` in seconds. A time that was never measured is `None`. If one of the two is missing, the gap is missing as well.
#
# | call | result |
# |---|---|
# | `gap(2.0, 5.0)` | `3.0` |
# | `gap(1.5, 1.75)` | `0.25` |
# | `gap(None, 5.0)`, `gap(2.0, None)` | `None` |


# %%
# lab00/q1 — keep this line
def gap(start: float | None, end: float | None) -> float | None:
    """Seconds from start to end, or None when one of them is missing."""
    # TODO 1: give None when start or end is None.
    # TODO 2: otherwise give the difference.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:_gap
    ### END SOLUTION


# %%
check("lab00.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# The test for a missing value is `is None`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `if not start` is true for `None`, and also for `0.0`. But 0 seconds is a time.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if start is None or end is None: return None`, and one more line.
#
# </details>
#
# Expected picture:

# %%
show("lab00.q1")

# %% [markdown]
# ## Question 2 · A mean that says what it is made of
#
# **Contract.** `mean(values)` returns a pair: the mean of the values that are not `None`, and how many there are. If there are none, it returns `(None, 0)`.
#
# | call | result |
# |---|---|
# | `mean([1.0, 2.0])` | `(1.5, 2)` |
# | `mean([None, 2.0, None, 4.0])` | `(3.0, 2)` |
# | `mean([])`, `mean([None])` | `(None, 0)` |


# %%
# lab00/q2 — keep this line
def mean(values: list) -> tuple[float | None, int]:
    """Mean of the known values, and how many there are."""
    # TODO 1: keep the values that are not None.
    # TODO 2: return their mean (None if there are none) and their number.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.metrics:mean
    ### END SOLUTION


# %%
check("lab00.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# First make a list of the known values. Everything else uses that list.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `[value for value in values if value is not None]`
#
# </details>
# <details><summary>Hint 3</summary>
#
# `sum(known) / len(known) if known else None` is the first half of the pair.
#
# </details>
#
# Expected picture:

# %%
show("lab00.q2")

# %% [markdown]
# ## Use them on the real log
#
# The gaps between the tokens of the answer above, by your own two functions. If they are not done yet, this cell says so.

# %%
from itertools import pairwise

times = [event.timestamp for event in output.events if event.event == "token"]
try:
    gaps = [gap(earlier, later) for earlier, later in pairwise(times)]
    average, count = mean(gaps)
except NotImplementedError:
    print("not done yet: questions 1 and 2 are needed here")
else:
    print(
        f"{len(times)} tokens, {count} gaps, mean gap {average * 1000:.1f} ms"
        if count
        else "one token, no gap"
    )

# %% [markdown]
# ## How far you are
#
# `progress()` shows what passes in this notebook right now. It counts the visible checks only.

# %%
progress()

# %% [markdown]
# For a view over all labs, the kit can keep a log of your checks: the time, the question, the word, and how many visible checks passed. It is off. `log_attempts()` from `inference_kit.labs` switches it on.
# The log is a file on this computer and holds none of your code. `attempts()` shows it, `forget_attempts()` deletes it, and `progress(everything=True)` sums it up.

# %% [markdown]
# ## Reflection
#
# In two or three sentences: why does `mean` return how many values it is made of? Name one wrong conclusion that somebody could draw from a mean without that number.

# %% [markdown]
# <!-- lab00/reflection — 1 point -->
# **Grading guide (stays in `solutions/`).** The point is given for one concrete wrong conclusion. For example: a server that loses nine of ten requests shows
# a good mean over the one that is left; or two means are compared, one over 3 samples and one over 30,000.

# %% [markdown]
# ## What to read next
#
# - `course/index.ipynb`: the map of the course.
# - `course/ch01_lifecycle.ipynb`, and then lab 01: the life of a request.
