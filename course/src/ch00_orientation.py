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
# # Chapter 0 · Orientation
#
# Five minutes of reading. Then do lab 00.
#
# <!-- @badge -->

# %%
# @setup

# %% [markdown]
# ## What serving is
#
# A model is a function: token ids in, a score for each possible next token out. Serving is everything around it. Many people ask at once, memory is short, some of them leave
# before the answer is complete, and each of them should get exactly their own words, in time. That part is called the *control plane*. It never changes what the model computes; it decides
# **who** runs next, **where** the intermediate results live, and **how** an answer ends.
#
# One request in four lines:

# %%
import os

from inference_kit import LLM, SamplingParams, viz

llm = LLM(os.environ.get("INFERENCE_KIT_MODEL", "smollm2"))
output = llm.generate("Serving a language model means", SamplingParams(max_tokens=16))[0]
print(output.text)

# %% [markdown]
# The engine writes down what it does. From these events, and from nothing else, come all measurements and all pictures of the course:

# %%
viz.timeline(output.events)

# %% [markdown]
# ## How the course works
#
# - **Chapters** (`course/`) explain. You read them and press the buttons.
# - **Labs** (`labs/`) are for writing. Each question has a contract, a stub and a check.
# - **The kit** (`inference_kit/`) is the engine. Your answers plug into it.
#
# A check knows three words. **Not done yet**: the stub is still there. **Wrong**: your code ran, and here is the first case that differs. **Done**: all visible checks pass, and
# you see what your code did. Hidden checks run when your notebook is graded. They test other cases of what the contract says, and nothing else.
#
# ## Where to work
#
# - **JupyterLab on your machine**: `make lab` starts it.
# - **Colab**: the first cell of each notebook installs the kit's package and nothing else. Hand in the notebook file that you download.
#
# Your notebook is not run with your outputs: the grader takes the *text* of your answer cells and runs it somewhere else. So a number in an output cell, or a changed check, has no effect.
#
# ## Questions
#
# **1.** Your check says "done", and after grading one point is missing. How can that be?
#
# <details><summary>Answer</summary>
#
# A hidden check failed. The contract says more than the visible cases show. Read it again and look for a word like *any*, *never* or *exactly*.
#
# </details>
#
# **2.** Why does the course insist that every picture comes from the event log?
#
# <details><summary>Answer</summary>
#
# Then a picture, a metric and a bill cannot disagree: they have one source. And the log can be checked on its own, before anything is computed from it. That is question 3 of lab 01.
#
# </details>
