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
# # Lab 04 · Endings
#
# | | |
# |---|---|
# | Difficulty | ●●●●○ |
# | Time | 120 minutes |
# | You build | four clocks, the decision at the safe point, the race of several ends, release in the order of ownership, the search for orphans |
# | It plugs into | the endings of the running engine |
# | Runs on | CPU. The five questions need Python only; the last part runs a real model |
# | Read before | `course/ch04_endings.ipynb` (12 minutes) |
#
# <!-- @badge -->
#
# Each question has a **contract**, a **stub** and a **check**. Keep the first line of each answer cell: it says which question the cell answers.
# Hints are folded below each check; `hint("lab04.q1")` shows them one by one.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, quiz, show

# %% [markdown]
# ## Why it matters
#
# A bank had a rule: no answer may take longer than eight seconds. A programmer wrapped the call in a timeout of eight seconds, tested it, and it worked: after eight seconds the page said *please try again*.
#
# In the first busy week the service broke down at half of the planned load. The page was right: nobody waited longer than eight seconds. But nobody had told the *engine*. It went on computing answers that no one would read. People pressed *try again*, and each press added one more of them.
# Soon the device did nothing but work for people who had left.
#
# See it in small. A job takes ten steps of a second. The caller gives up after three.


# %%
class Job:
    def __init__(self):
        self.steps_done = 0

    def run(self, clock):
        while self.steps_done < 10:
            clock["now"] += 1.0
            self.steps_done += 1


clock, job = {"now": 0.0}, Job()
gave_up_at = 3.0
job.run(clock)
print(f"the caller gave up at {gave_up_at:g} s; the device worked until {clock['now']:g} s")
print(f"{job.steps_done} steps were computed, {job.steps_done - gave_up_at:g} of them for nobody")

# %% [markdown]
# A timeout *around* the engine ends the waiting. Only a deadline *inside* the engine ends the work.
#
# ## The mechanism
#
# A request has four clocks, because four different things can be late:
#
# | clock | starts | ends | what it catches |
# |---|---|---|---|
# | queue | when it enters the queue | at its first admission | too many others |
# | TTFT | when it came in | at its first token | queue, tokenizing and prefill together |
# | inter-token | at each token | at the next one | a device that stalls |
# | overall | when it came in | at its end | everything |
#
# The inter-token clock blames the device, so it must not run while the request waits for its *reader*: then it stands still, and another limit runs, `slow_consumer_s` of lab 05. When the reader is back, the clock goes on from where it stood.
#
# In the picture a request came at 1 s, was queued at 2 s, admitted at 3 s, and made tokens at 4 s and 6 s. Its limits are: queue 3 s, TTFT 4 s, inter-token 2 s, overall 12 s. It is 9 s now.

# %%
viz.deadline_clocks(
    {"queue_s": 3.0, "ttft_s": 4.0, "inter_token_s": 2.0, "overall_s": 12.0},
    {"received_at": 1.0, "queued_at": 2.0, "admitted_at": 3.0, "first_token_at": 4.0, "last_token_at": 6.0},
    now=9.0,
)

# %% [markdown]
# And the same request, when its reader is away from 7 s to 10 s, with an inter-token limit of 3 s. The hatched time is not counted.

# %%
viz.deadline_clocks(
    {"inter_token_s": 3.0, "overall_s": 12.0},
    {"received_at": 1.0, "queued_at": 2.0, "admitted_at": 3.0, "first_token_at": 4.0, "last_token_at": 6.0},
    now=11.0,
    waits=[(7.0, 10.0)],
    slow_consumer_s=5.0,
)

# %% [markdown]
# ## Question 1 · Four clocks
#
# **Contract.** `armed(deadlines, marks)` returns a list with an entry `(due time, reason)` for each clock that runs and has a limit, in the order queue, TTFT, inter-token, overall. `first_expired(deadlines, marks, now)` returns `(reason, due time)` of the clock that ran out first, or `None`.
# A limit is missed at equality. The time in the answer is *start + limit*, however late somebody looks. Of several the earliest is the cause; in a tie it is the one that comes first in that order.
#
# `moved_on(started_at, paused_at, resumed_at)` is for the inter-token clock. It stands still while the request waits for its reader, so the wait must not count: the function returns the start that the clock has after the wait. A token that was on its way can still come during the wait; it sets the clock anew, and then only the rest of the wait is left out.
#
# The check asks `first_expired` and `moved_on`. How your `armed` writes its entries is your own affair.
#
# `deadlines` has `queue_s`, `ttft_s`, `inter_token_s` and `overall_s` (seconds, or `None`: no limit). `marks` has `received_at`, `queued_at`, `admitted_at`, `first_token_at`, `last_token_at` (seconds, or `None`: has not happened) and `paused`: true while the reader is slow. `CLOCKS` is given: the name of each limit and its reason.
#
# | situation (the request came at 1 s) | result |
# |---|---|
# | overall 10, came at 1, now 10.5 | `None` |
# | overall 10, came at 1, now 11 | `("overall_deadline", 11)` |
# | overall 10, came at 1, now 14 | `("overall_deadline", 11)` |
# | queue 3, queued at 2, now 5 | `("queue_deadline", 5)` |
# | queue 3, admitted at 3, now 99 | `None`: disarmed by the admission |
# | ttft 4, came at 1, now 5 | `("ttft_deadline", 5)` |
# | ttft 4, first token at 4, now 99 | `None` |
# | inter-token 2, last token at 6, now 8 | `("inter_token_deadline", 8)` |
# | inter-token 2, no token yet, now 99 | `None` |
# | inter-token 2, paused, now 99 | `None`: the reader is late, not the device |
# | ttft 9 and overall 5, now 99 | `("overall_deadline", 6)` |
# | queue 3 and overall 4, both due at 5 | `("queue_deadline", 5)` |
# | no limits, now 99 | `None` |
# | queue 3, not queued yet, now 99 | `None`: the clock has not started |
# | `moved_on(6, 7, 12)` | 11: one second had gone when the wait began, and it still counts |
# | `moved_on(6, 6, 12)` | 12 |
# | `moved_on(9, 7, 12)` | 12: the token at 9 set the clock anew |

# %%
# lab04/q1 — keep this line
from enum import StrEnum


# @given inference_kit.lifecycle.states:FinishReason

# @given inference_kit.lifecycle.deadlines:CLOCKS


def armed(deadlines, marks):
    """(due time, reason) of each clock that runs, in the order of ties."""
    # TODO 1: the queue clock runs until the request was admitted.
    # TODO 2: the TTFT clock runs until there is a first token; after that the inter-token clock does, unless paused.
    # TODO 3: the overall clock always runs.
    # TODO 4: leave out clocks that have no limit, or whose start has not happened.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.deadlines:armed
    ### END SOLUTION


def first_expired(deadlines, marks, now):
    """The deadline that passed first, with the time it passed at, or None."""
    # TODO 5: the entry of `armed` with the smallest time runs out first; in a tie, the first of them.
    # TODO 6: has it run out by now? Then return its reason and its due time.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.deadlines:first_expired
    ### END SOLUTION


def moved_on(started_at, paused_at, resumed_at):
    """Start of the inter-token clock after a wait for the reader."""
    # TODO 7: how much of the wait lies behind the start of the clock? Move the start on by that.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.deadlines:moved_on
    ### END SOLUTION


class Bag(dict):
    """A dict whose keys are attributes. You do not change this class."""

    __getattr__ = dict.__getitem__


def expired(deadlines, marks, now):
    """What the check asks. You do not change this function."""
    return first_expired(Bag(deadlines), Bag(marks), now)


# %%
check("lab04.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Collect the starts of the clocks that run in a dict: `starts["queue_s"] = marks.queued_at`. At the end keep those where neither start nor limit is `None`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Ask `is None`, never `if not start`: a request may come at 0.0 seconds, and 0.0 is false.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `min(armed(…), key=lambda clock: clock[0], default=None)` is the earliest, and of equal ones the first. `getattr(deadlines, name)` is the limit of a name. Then `if first is None or now < first[0]: return None`. For `moved_on`: the wait counts from `max(paused_at, started_at)` on.
#
# </details>
#
# Expected picture: the clocks of one request, and the one that ran out.

# %%
show("lab04.q1")

# %% [markdown]
# ## Question 2 · The safe point
#
# A cancel is a mark, not a hammer. It is set at any time, and acted on at the next **step boundary**, where no kernel runs for this request. At that boundary several causes may lie on the table: a limit that has passed, a cancel that was asked for, a part of the request that has raised.
#
# **Contract.** `which_end(due, failed, cancelled, now, error)` returns `(reason, time)`, or `None`. `due` is what question 1 returned, `cancelled` is `(reason, time it was asked for)` or `None`, `failed` is true after an exception. `error` is the reason of a failure; it is dated `now`.
# The earlier of limit and cancel is the cause; at the same instant it is the limit. A failure is noticed now: a limit that has passed wins over it, and it wins over a cancel.
#
# | on the table | result |
# |---|---|
# | nothing | `None` |
# | a limit at 5 | the limit |
# | a cancel at 7 | the cancel |
# | a failure | `(error, now)` |
# | a limit at 5, a cancel at 3 | the cancel |
# | a limit at 5, a cancel at 7 | the limit |
# | a limit at 5, a cancel at 5 | the limit |
# | a failure and a limit at 5 | the limit |
# | a failure and a cancel at 3 | `(error, now)` |
# | a failure, a limit at 5, a cancel at 3 | `(error, now)`: the limit came after the cancel, and a failure wins over a cancel |
# | a failure, a limit at 5, a cancel at 8 | the limit |


# %%
# lab04/q2 — keep this line
def which_end(due, failed, cancelled, now, error):
    """What a step boundary does with one request: (reason, time) of its end, or None."""
    # TODO 1: a limit wins, unless a cancel was asked for before it.
    # TODO 2: then a failure; it is dated now.
    # TODO 3: then a cancel; else nothing.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.endings:which_end
    ### END SOLUTION


# %%
check("lab04.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three `if`s in the order of the TODO lines are enough.
#
# </details>
# <details><summary>Hint 2</summary>
#
# "Not before it" means: the limit's time is smaller *or equal*. And there may be no cancel at all.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if due is not None and (cancelled is None or due[1] <= cancelled[1]): return due`
#
# </details>
#
# Expected picture: what is decided for each pair of causes.

# %%
show("lab04.q2")

# %% [markdown]
# ## Question 3 · A race has one winner
#
# Signals come from several threads, and a log collects them in any order. What happened must not depend on that order. So there is a rule for the same instant: **expire, finish, cancel, arrive, step**. The first *end* (expire, finish or cancel) wins; later ones are named and do nothing.
#
# **Contract.** `in_order(signals)` sorts `(time, kind)`: by time, and at the same time by that rule. `settle(signals)` returns `(the one that ends the request or None, the ends that came too late)`. A kind that is none of the five is a `ValueError`, before anything is decided.
#
# | signals | result |
# |---|---|
# | a cancel at 6, a finish at 5 | the finish wins, the cancel is late |
# | all five at 5 | expire, finish, cancel, arrive, step |
# | a cancel, an expire and a finish at 5 | expire wins; finish and cancel are late |
# | two cancels at 5 | one of them wins, the other one is late |
# | an arrival at 1, a step at 2 | `(None, [])` |
# | no signal | `(None, [])` |
# | a signal "explode" | `ValueError` |

# %%
# lab04/q3 — keep this line
# @given inference_kit.lifecycle.endings:ORDER, ENDS


def in_order(signals):
    """Signals by time, at the same instant by ORDER."""
    # TODO 1: refuse a kind that ORDER does not have, before anything else.
    # TODO 2: sort by time, and then by the place in ORDER.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.endings:in_order
    ### END SOLUTION


def settle(signals):
    """(the signal that ends the request, those that came too late)."""
    # TODO 3: only kinds in ENDS can end a request.
    # TODO 4: the first of them in order wins; return it and the others.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.endings:settle
    ### END SOLUTION


# %%
check("lab04.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `sorted(signals, key=lambda signal: (signal[0], ORDER[signal[1]]))` sorts by two things.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `ORDER[kind]` raises `KeyError` for an unknown kind, and a `KeyError` is no `ValueError`. Look before you sort.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `ends[0] if ends else None` and `ends[1:]`: a slice of an empty list is an empty list.
#
# </details>
#
# Expected picture: the signals of one race, in order.

# %%
show("lab04.q3")

# %% [markdown]
# ## Question 4 · Release in the order of ownership
#
# A request holds things that need each other: the stream reads from KV blocks, and both write into a trace. If the trace is closed first, the stream writes into nothing. So what *depends* on something is released before it. And some things have several owners: a shared prefix, an adapter, a buffer. They stay until the last owner has left.
# Both rules together give a third one: a resource that has lost its last owner stays as long as something *of another owner* still needs it.
#
# **Contract.** `release_order(depends)` gets a dict from a resource to those that it needs. Every resource has an entry of its own there, an empty one if it needs nothing. It returns all of them, each before those that it needs; for a circle it raises a `ValueError`.
#
# `leave(owner, owners, depends)` returns `(what is freed, in that order; who owns what afterwards)`. `owners` is a dict from a resource to its owners. Freed is what has no owner left **and** what nothing that stays needs; it is not in the second part any more. What has no owner left and is
# still needed stays, with an empty list of owners. A resource that `depends` does not name needs nothing.
#
# | situation | result |
# |---|---|
# | stream needs kv, kv needs trace | stream, kv, trace |
# | top needs left and right, both need pool | top first, pool last, each once |
# | no resource | an empty list |
# | a needs b, b needs a | `ValueError` |
# | r1 leaves; kv is shared with r2 | kv stays with r2, the rest is freed |
# | r1 leaves and owned all three alone | stream, kv, trace are freed in this order |
# | r1 leaves with trace and kv; the stream of r2 needs kv | nothing is freed: kv stays without an owner, and so does trace, which kv needs |
# | after that, r2 leaves | stream, kv, trace are freed in this order |
# | r1 leaves; `depends` does not name its buffer | the buffer is freed |
# | r1 leaves twice | the second time nothing is freed |
#
# Python's `graphlib.TopologicalSorter` knows how to order such a graph. You may use it or write your own.

# %%
# lab04/q4 — keep this line
from graphlib import CycleError, TopologicalSorter


def release_order(depends):
    """All resources, each one before those that it depends on."""
    # TODO 1: order the graph; which way round does the sorter put it?
    # TODO 2: turn its CycleError into a ValueError that names the circle.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.ownership:release_order
    ### END SOLUTION


def leave(owner, owners, depends):
    """An owner goes: (what is freed, in order; who owns what afterwards)."""
    # TODO 3: take the owner off every list.
    # TODO 4: go through all resources in the order of release_order, also those that `depends` does not name.
    # TODO 5: free one that has no owner left and that nothing which is still there needs.
    # TODO 6: return both; what is freed is gone from the second.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.ownership:leave
    ### END SOLUTION


# %%
check("lab04.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `TopologicalSorter(depends).static_order()` gives needed things *first*. You want them last.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In the order of `release_order`, whatever needs a resource comes before it. So when you look at one, it is already decided which of the others stay. `{name: [] for name in owners} | depends` names every resource.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `left` holds the owners without the one who goes. In the loop: `needed = any(name in needs[other] for other in left)`. If `name` is in `left`, its list is empty and it is not needed: append it to `freed`, and delete it from `left`.
#
# </details>
#
# Expected picture: two requests leave, one after the other.

# %%
show("lab04.q4")

# %% [markdown]
# ## Question 5 · Orphans
#
# A gateway that only closes its socket leaves an **orphan**: a request that computes and holds memory for nobody. After a crash of a process there can be many. Two tools find them.
#
# A **lease**: each holder gives a sign of life from time to time. Who is silent for too long is not there any more. **Reconciliation** after a restart: compare what the log says with what is really in use.
#
# **Contract.** `find_orphans(held, heard_at, now, lease_s)` returns the resources whose holder has not been heard of for `lease_s` seconds (at equality the lease is over), or never; 0.0 is a time like any other. `held` is a dict from resource to holder; keep its order.
# `reconcile(recorded, held)` returns `(resources to give back, requests to fail)`. `recorded` is a dict from request to its resources by the log, `held` the list of resources in use. What no recorded request has is given back. A request that lacks something fails, and what it still has is given back, unless another one shares it.
#
# | situation | result |
# |---|---|
# | r1 heard at 5, now 14.5 | lease of 10: no orphan |
# | r1 heard at 5, now 15 | everything of r1 |
# | r2 was never heard of | everything of r2 |
# | r1 has a and b; a and b in use | nothing to do |
# | r1 has a; a, b and c in use | b and c are given back, in the order of `held` |
# | r1 has a and b; only a in use | r1 fails, a is given back |
# | r2 and r1, in this order, lack something | both fail, in the order of `recorded` |


# %%
# lab04/q5 — keep this line
def find_orphans(held, heard_at, now, lease_s):
    """Resources whose holder has not been heard of for `lease_s` seconds, or never."""
    # TODO 1: for each resource: was its holder ever heard of?
    # TODO 2: is its lease over?
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.orphans:find_orphans
    ### END SOLUTION


def reconcile(recorded, held):
    """After a restart: (resources to give back, requests to fail)."""
    # TODO 3: which requests lack one of their resources?
    # TODO 4: what do the others keep?
    # TODO 5: give back what is in use and not kept.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.orphans:reconcile
    ### END SOLUTION


# %%
check("lab04.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# A list comprehension over `held.items()` keeps the order. `heard_at[holder]` raises for a holder that was never heard of; test for it first.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `set(wanted) <= set(held)` asks whether everything that is wanted is there.
#
# </details>
# <details><summary>Hint 3</summary>
#
# First the requests that fail, then the set of what the others keep, then `[resource for resource in held if resource not in kept]`. In this order a shared resource takes care of itself.
#
# </details>
#
# Expected picture: a restart.

# %%
show("lab04.q5")

# %% [markdown]
# ## Plug your parts into the engine
#
# `plug` puts your `first_expired` into the engine's slot `endings`: your code decides at every boundary which deadline has passed. Your `release_order` goes into the slot `lifecycle`: it says in which order an ended request gives back what it holds. The engine takes a part only when its check says *done*.
# `which_end`, `settle`, `moved_on` and the two searches of question 5 have no slot. The engine uses its own, and yours are asked beside it, about what it did.
#
# Four requests run on a virtual clock, so nobody waits: one is late in the queue, one at its first token, one between two tokens, one as a whole. The model is SmolLM2 (135 million weights, CPU). With the environment variable
# `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights.

# %%
import os

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
parts = plug("lab04", globals())
run = parts.four_ends(model)
run.table

# %% [markdown]
# The log of the third one, from its events. It computed until its own clock stopped it; the end is dated by the limit, not by the step that noticed it.

# %%
run.timeline

# %% [markdown]
# Two readers stop reading. The inter-token limit is 5 s, and nobody is ended by it while the readers are away. One of them comes back after 15 s; then the device stalls, and *now* that clock runs out. The other one never comes back, so the limit of slow readers (25 s) ends it. Two different causes, two different names:

# %%
slow = parts.slow_readers(model)
slow.table

# %%
slow.timeline

# %% [markdown]
# A cancel in the middle of a step. The step goes on to its end, its neighbour gets its token, and the token of the cancelled one is not committed: *proposed* is one more than *committed*. Committed tokens are billed, also for a cancelled request, and the one of the last step is not. That is a policy, and it is written down: in the docstring of
# `inference_kit/engine/output.py`, together with two others. A cancel is recorded under its own name. The blocks of a cancelled prompt may stay in the prefix cache, for what was computed did not become wrong.

# %%
parts.cancel_inside_a_step(model)

# %% [markdown]
# A limit and a cancel at one boundary. The engine looks at 7 s, and must find out which of them came first. Your `which_end` and your `settle` are asked the same.

# %%
parts.one_boundary(model)

# %% [markdown]
# What the request had taken, and in which order your `release_order` gave it back. The slot in the batch writes into the stream, and the stream finds its caller in the registry.

# %%
parts.release(model)

# %% [markdown]
# And orphans: three callers submit, and two go away without a word. Your `find_orphans` looks at what the engine holds and at who was heard of.

# %%
parts.orphans(model)

# %% [markdown]
# A restart. The gateway comes back with an old log: it knows nothing of `r2`, and it believes that `r1` has a block which is not there. Your `reconcile` compares the log with what the engine really has in use.

# %%
parts.restart(model)

# %% [markdown]
# Try a fault. In the answer cell of question 1, let the TTFT clock start at `marks.queued_at`, run that cell, and run `plug("lab04", globals())` again. Which checks see it? What would your customers see? Put it back.

# %% [markdown]
# ## Quiz

# %%
quiz("lab04")

# %% [markdown]
# ## Reflection
#
# Your engine runs on two machines that compute each step together: a step ends when both have finished it. A client cancels while machine A is in the middle of a step and machine B is slightly behind.
#
# In six to ten sentences: why must neither machine drop the request at once? Where is the safe point, who decides, and how does the other machine learn of it? What is billed, and what does the log say? What happens if machine B dies in just that moment?

# %% [markdown]
# <!-- lab04/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *Nobody leaves a collective early.* The step contains operations in which both take part. If A drops out, B waits for ever. So both finish the step.
# 2. *One owner decides at the boundary.* One place (the scheduler or a leader) collects cancels and limits and puts the decision into the plan of the next step; the other machine learns it with the plan, so both drop the request in the same step.
# 3. *Policy.* Committed tokens are billed or sent ones are, but it is written down; the token of the last step is proposed and not committed; the state is *cancelled* with the counts.
# 4. *A machine dies.* The lease runs out; the other one ends all requests of the group with `error`, gives its resources back, and a restart reconciles the log with what is in use.

# %% [markdown]
# ## What to read next
#
# - `course/ch04_endings.ipynb`: clocks, safe points, leases, and how other engines end a request.
# - `inference_kit/engine/core.py`: `boundary`, the one place where requests end. `inference_kit/engine/output.py`: the policy of what is billed, in its docstring.
# - gRPC's guides on deadlines and cancellation.
