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
# # Lab 05 · Backpressure
#
# | | |
# |---|---|
# | Difficulty | ●●●○○ |
# | Time | 120 minutes |
# | You build | the queue law, a bounded channel with two marks, the slow-consumer policy, a fair choice that nobody can stall, the four token counts |
# | It plugs into | the channels of the running engine, and through them the scheduler |
# | Runs on | CPU. The six questions need Python only; the last part runs a real model |
# | Read before | `course/ch05_backpressure.ipynb` (14 minutes) |
#
# <!-- @badge -->
#
# Each question has a **contract**, a **stub** and a **check**. Keep the first line of each answer cell: it says which question the cell answers.
# Hints are folded below each check; `hint("lab05.q1")` shows them one by one.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, quiz, show

# %% [markdown]
# ## Why it matters
#
# A news site put its answers on large screens in railway stations. The screens had slow radio links. At noon the model server ran out of memory, and all answers of all customers stopped.
#
# The model was not to blame. It made 40 tokens a second for each screen, and a screen took two. The rest waited in a list on the server, one list for each screen. Nobody had said how long a list may grow.
#
# The first repair made it worse. Somebody gave each list a bound of 50 and let the writer *wait* when it was full. The writer was the thread that ran the model. Now one screen in a tunnel stopped everybody.
#
# The second repair *dropped* tokens when a list was full. Memory was fine, nobody waited, and the screens showed sentences with holes. The device still computed every token, also those that went into the holes.
#
# See all three in one cell. One thread runs the model. In each tick it makes one token for a slow reader and one for a fast reader; both want the letters A to G. The slow one takes a letter (1) or takes nothing (0), as `DRAINS` says. The fast one takes every letter at once.

# %%
DRAINS = [1, 0, 0, 0, 1, 0, 1, 0, 0]


def serve(way, bound=3):
    """Computed for the slow reader; what it has got; what waits; the longest list; what the fast one has got."""
    computed, got, waiting, longest, fast = 0, "", "", 0, 0
    for drain in DRAINS:
        got, waiting = got + waiting[:drain], waiting[drain:]
        is_full = len(waiting) >= bound
        if way == "the writer waits" and is_full:
            continue  # the thread stands still, and so do all the others
        if computed < 7:
            if not (way == "drop" and is_full):
                waiting += "ABCDEFG"[computed]
            computed += 1
        fast = min(fast + 1, 7)
        longest = max(longest, len(waiting))
    return "ABCDEFG"[:computed], got, waiting, longest, "ABCDEFG"[:fast]


rows = [["way", "computed", "slow one has", "waits for it", "longest list", "fast one has"]]
for way in ("no bound", "the writer waits", "drop"):
    rows.append([way, *serve(way)])
viz.grid(rows, "Three ways to serve a slow reader", [(1, 4), (2, 5), (3, 3)])

# %% [markdown]
# Each framed cell is one of the three faults. Without a bound the list grows with the answer; here it is 5 long, and nothing but the length of the answer stops it. When the writer waits, the *fast* reader lacks `F` and `G`, although it took everything at once. When tokens
# are dropped, `D` and `F` are gone for ever, and all seven letters were computed.
#
# ## The mechanism
#
# Real backpressure goes all the way back: the reader's window is full → the channel reaches its high mark → the scheduler stops *planning* this request → the device computes other requests. Nothing is dropped, nobody waits for anybody, and if the reader never comes back, a limit ends the request.
#
# Press the buttons. In the upper row nothing is bounded, in the lower row at most three tokens wait. Look at the ticks in which the lower one pauses.

# %%
viz.backpressure(drains=DRAINS, tokens="ABCDEFG", capacity=3, deadline_tick=8)

# %% [markdown]
# ## Question 1 · The queue law
#
# A queue that is filled and emptied in ticks obeys one law: *what waits = what waited + what was made − what was taken*. The reader takes first, and never more than there is. Then at most one token is made, and only if there is room for it.
#
# **Contract.** `tick(level, drain, capacity, has_more)` returns `(consumed, produced)`. `level` is the number of tokens that wait, `drain` what the reader would take, `capacity` the most that may wait
# (`None`: no bound), `has_more` whether a token is left to make.
#
# | `tick(…)` | result | why |
# |---|---|---|
# | `(0, 1, 3, True)` | `(0, 1)` | nothing there to take; one is made |
# | `(2, 5, 3, True)` | `(2, 1)` | it takes what is there |
# | `(2, 0, 3, True)` | `(0, 1)` | one place is left |
# | `(3, 0, 3, True)` | `(0, 0)` | full: nothing is made |
# | `(3, 1, 3, True)` | `(1, 1)` | the reader made room first |
# | `(1000, 0, None, True)` | `(0, 1)` | no bound |
# | `(0, 0, 0, True)` | `(0, 0)` | a bound of 0 is a bound |
# | `(1, 0, 3, False)` | `(0, 0)` | the answer is complete |


# %%
# lab05/q1 — keep this line
def tick(level, drain, capacity, has_more):
    """One tick of the queue law: (consumed, produced). The reader comes first."""
    # TODO 1: how many tokens does the reader take?
    # TODO 2: is there room for one more after that? With capacity None there always is.
    # TODO 3: one token is made if there is room and one is left to make.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.ticks:tick
    ### END SOLUTION


# %%
check("lab05.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `min` of two numbers is all that the reader needs.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Compare the level *after* the reader with the capacity: `level - consumed < capacity`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `capacity is None or …`. Do not write `not capacity`: a capacity of 0 would then be no bound. `int(True)` is 1.
#
# </details>
#
# Expected picture: the law for some ticks.

# %%
show("lab05.q1")

# %% [markdown]
# ## Question 2 · The slow client, bounded and unbounded
#
# Now run the whole stream. Ticks are counted from 0. At `deadline_tick` the request ends *before* anything else happens in that tick.
#
# **Contract.** `run_client(tokens, drains, capacity, deadline_tick, tick)` returns a dict with `generated`, `sent`, `dropped` (made and never sent) as strings of letters, and `paused_ticks`: the numbers of the ticks in which a token was left to make and
# none was made. `tick` is the function of question 1; the check hands in the kit's.
#
# | tokens `ABCDEFG`, drains `[1,0,0,0,1,0,1,0,0]`, deadline 8 | `generated` | `sent` | `dropped` | `paused_ticks` |
# |---|---|---|---|---|
# | `capacity` None | `ABCDEFG` | `AB` | `CDEFG` | `[]` |
# | `capacity` 3 | `ABCDE` | `AB` | `CDE` | `[3, 5, 7]` |
# | deadline 0 | empty | empty | empty | `[]` |


# %%
# lab05/q2 — keep this line
def run_client(tokens, drains, capacity, deadline_tick, tick):
    """A whole stream, tick by tick, until the deadline ends it."""
    # TODO 1: count what was generated and what was sent; nothing of both at the start.
    # TODO 2: for each tick before the deadline: is a token left to make? What does tick say?
    # TODO 3: add what was taken and what was made; note the tick if it paused.
    # TODO 4: return the four fields; slices of `tokens` give the letters.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.ticks:run_client
    ### END SOLUTION


# %%
check("lab05.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Two numbers are enough: `generated` and `sent`. What waits is their difference.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `has_more = generated < len(tokens)`. Ask *before* the tick, and use the same value for the pause: a tick pauses if `has_more and not produced`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `tokens[:generated]`, `tokens[:sent]` and `tokens[sent:generated]` are the three strings.
#
# </details>
#
# Expected picture: the two runs of the table.

# %%
show("lab05.q2")

# %% [markdown]
# Your policy can drive the player. Run this cell after question 1 is done: in the lower row your `tick` decides what is made. Change it and run both cells again. What does the lower row show if you return `(min(drain, level), 1)`?

# %%
try:
    tick(0, 0, 1, True)
except (NameError, NotImplementedError):
    print("question 1 is not done yet, so the kit's law drives the lower row")
    player = viz.backpressure(drains=DRAINS, tokens="ABCDEFG", capacity=3, deadline_tick=8)
else:
    player = viz.backpressure(drains=DRAINS, tokens="ABCDEFG", capacity=3, deadline_tick=8, policy=tick)
player

# %% [markdown]
# ## Question 3 · Two marks, and a limit
#
# With one mark a stream would pause and go on with every single token: each time the reader takes one, one is made. Every change costs a wake-up of the scheduler. So there are two marks: pause at the **high** mark, go on at the **low** one. Between them nothing changes.
#
# A reader that never comes back must not hold KV blocks for ever. A pause has a limit: after `limit_s` seconds the request ends as a *slow consumer*.
#
# **Contract.** `watch(unsent, paused_since, now, high, low, limit_s)` is asked at every step boundary. It returns `(paused_since, ended)`: since when the stream is paused (`None`: it is not), and whether it ends now. Times are seconds. The limit is missed at
# equality, and it is looked at before the marks. An ended stream keeps its `paused_since`.
#
# | `watch(…)` | result |
# |---|---|
# | `(2, None, 5.0, 3, 1, 10.0)` | `(None, False)` |
# | `(3, None, 5.0, 3, 1, 10.0)` | `(5.0, False)`: the high mark |
# | `(6, None, 5.0, 3, 1, 10.0)` | `(5.0, False)`: one step brought several tokens |
# | `(2, 5.0, 6.0, 3, 1, 10.0)` | `(5.0, False)`: between the marks |
# | `(1, 5.0, 6.0, 3, 1, 10.0)` | `(None, False)`: the low mark |
# | `(3, 5.0, 15.0, 3, 1, 10.0)` | `(5.0, True)` |
# | `(0, 5.0, 15.0, 3, 1, 10.0)` | `(5.0, True)`: the limit comes first |
# | `(3, 5.0, 9999.0, 3, 1, None)` | `(5.0, False)`: no limit |


# %%
# lab05/q3 — keep this line
def watch(unsent, paused_since, now, high, low, limit_s):
    """What a boundary decides about one stream: (paused since, ended as a slow consumer)."""
    # TODO 1: a stream that is not paused: does it pause now?
    # TODO 2: a paused one: has its limit passed?
    # TODO 3: if not: does it go on?
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.channel:watch
    ### END SOLUTION


# %%
check("lab05.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three cases in this order: not paused, paused too long, paused.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A stream can be paused since 0.0 seconds, and 0.0 is false in Python. Ask `paused_since is None`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `>=` at the high mark and at the limit, `<=` at the low mark.
#
# </details>
#
# Expected picture: one stream over time.

# %%
show("lab05.q3")

# %% [markdown]
# ## Question 4 · The channel
#
# The channel stands between the thread that runs the model and the reader. Three rules make it harmless: it **never blocks** the one who puts, it **never drops** what was put, and it **merges** what waits, so that a reader who comes late gets one large piece. It is bounded all the same. The scheduler asks `paused` before each step, so what waits never passes the high mark plus the tokens of one step.
#
# **Contract.** A channel has `high` and `low`. `put(text, token_ids)` adds an entry. `close(reason)` says that no more will come; the first reason stays, and a put after it is ignored. `take(most)` returns
# `(text, token_ids, reason)`: entries in order, merged, up to `most` tokens; `reason` is `None` until the last entry goes out. An entry is never cut, so the first one always comes. With nothing to say it returns `None`.
# `paused` is true from the high mark on until the low mark is reached. `unsent` and `sent` count tokens.
#
# | moves | result |
# |---|---|
# | put "a", put "b", `take(9)` | `("ab", [1, 2], None)`; a second `take(9)` gives `None` |
# | four puts with `high` 3, `take(9)` | all four tokens |
# | three puts with `high` 3 | `paused` is `False`, `False`, `True` |
# | then `take(1)`, `take(1)` with `low` 1 | `paused` is `True`, `False` |
# | four puts with `high` 4, `take(2)`, one put, close | `paused` stays `True` (with `low` 1): the low mark was not reached |
# | two puts with `high` 3, `take(1)`, one put | `paused` is `False`: the high mark was not reached |
# | put "xy" with two ids | `unsent` grows by 2 |
# | put "xyz" with three ids, `take(1)` | `("xyz", [1, 2, 3], None)` |
# | put "held" without ids, put "xyz" with three ids, `take(1)` | `("held", [], None)`: a text without ids is an entry too |
# | put "a", put "b", `close("length")`, `take(1)` three times | `("a", [1], None)`, `("b", [2], "length")`, `None` |
# | `close("length")`, put "a", `close("error")`, `take(9)` | `("", [], "length")` |


# %%
# lab05/q4 — keep this line
class Channel:
    """A bounded channel with two marks, for one thread."""

    def __init__(self, high, low):
        self.high = high
        self.low = low
        self.waiting = []
        self.unsent = 0
        self.sent = 0
        self.paused = False
        self.finish_reason = None
        self.ended = False

    def put(self, text, token_ids):
        """Add an entry. It never waits and never drops."""
        # TODO 1: after close, nothing enters.
        # TODO 2: keep the entry, count its tokens, and pause at the high mark.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.channel:PlainChannel.put
        ### END SOLUTION

    def close(self, finish_reason):
        """No more will come; the first reason stays."""
        # TODO 3: note the reason if there is none yet.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.channel:PlainChannel.close
        ### END SOLUTION

    def take(self, most):
        """(text, token ids, reason) of what waits, up to `most` tokens; None with nothing to say."""
        # TODO 4: take whole entries from the front; the first one always.
        # TODO 5: move the counts, and go on at the low mark.
        # TODO 6: the reason comes with the last entry, once.
        ### BEGIN SOLUTION
        # @answer inference_kit.streaming.channel:PlainChannel.take
        ### END SOLUTION


# %%
check("lab05.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `self.waiting` can be a list of `(text, list of ids)`. `pop(0)` takes the oldest one. Copy the ids in `put`: the caller may use its list again.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In `take`, two things let an entry through: it is the first one of this call, or `len(token_ids) + len(self.waiting[0][1]) <= most`. A text without ids (it was held back for a stop string) has an empty list, so it always
# fits. It is an entry like any other: if it came first, the next one must fit.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The reason goes out when nothing waits any more and it has not gone out before: that is what `self.ended` is for. `None` is returned only when there is no text, no id and no reason.
#
# </details>
#
# Expected picture: a channel with the marks 3 and 1, move by move.

# %%
show("lab05.q4")

# %% [markdown]
# ## Question 5 · Nobody stalls anybody
#
# A paused stream costs nothing *if the scheduler passes it over*. If it waits for it, one slow reader stops all others: **head-of-line blocking**, the tunnel of the story.
#
# There is a second question: when there are more streams than places in a step, who is served? If it were always the first ones, the last would starve. So the one that was served longest ago is first.
#
# **Contract.** `longest_unserved(rows, budget)` returns the names to serve, at most `budget`. A row is `(name, paused, last served in step, arrival)`. Paused streams are passed over and take no place. Ties go to the earlier arrival.
#
# | situation | result |
# |---|---|
# | a slow reader in front | the others, in order |
# | a slow reader and a budget of 1 | the one behind it |
# | last served in steps 7 and 3 | the one of step 3 first |
# | both last served in step 3 | the earlier arrival first |
# | three streams and a budget of 2 | two names |
# | three streams and a budget of 0 | an empty list |
# | no stream | an empty list |


# %%
# lab05/q5 — keep this line
def longest_unserved(rows, budget):
    """Whom a step serves when there are more streams than places."""
    # TODO 1: pass over those whose reader has used up its credit.
    # TODO 2: order the others: served longest ago first, then by arrival.
    # TODO 3: return the names of the first ones.
    ### BEGIN SOLUTION
    # @answer inference_kit.scheduler.decodes:longest_unserved
    ### END SOLUTION


# %%
check("lab05.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# First leave out, then sort, then cut. In another order the slow ones take places.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `sorted(…, key=lambda row: (row[2], row[3]))` sorts by two things at once.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `rows` belongs to the caller. Sort a list of your own and leave `rows` as it is.
#
# </details>
#
# Expected picture: five streams, two places, one slow reader.

# %%
show("lab05.q5")

# %% [markdown]
# ## Question 6 · Four counts that are never merged
#
# "Tokens per second" can mean four things. **Proposed**: all that the device made, drafts and what stood behind a stop included. **Committed**: what became part of an answer. **Unsent**: committed and not taken yet. **Sent**: taken by the reader. At every moment sent ≤ committed ≤ proposed, and unsent is committed less sent.
#
# **Contract.** `token_counts(log)` gets `(event, number of tokens)` in order. It returns a dict with the four counts. For a log that cannot have happened it raises a `ValueError`.
#
# | log | result |
# |---|---|
# | `[]` | all four are 0 |
# | `[("propose", 4), ("commit", 3), ("send", 1)]` | proposed 4, committed 3, unsent 2, sent 1 |
# | `[("propose", 1), ("commit", 2)]` | `ValueError` |
# | `[("propose", 3), ("commit", 1), ("send", 2)]` | `ValueError` |
# | `[("drop", 1)]` | `ValueError`: not an event |


# %%
# lab05/q6 — keep this line
def token_counts(log):
    """The four token counts of a stream, from what happened to it."""
    # TODO 1: three running numbers, from 0.
    # TODO 2: add each entry to its number; refuse a word that is no event.
    # TODO 3: after each entry: is sent <= committed <= proposed? If not, raise ValueError.
    # TODO 4: return proposed, committed, unsent and sent.
    ### BEGIN SOLUTION
    # @answer inference_kit.streaming.ticks:token_counts
    ### END SOLUTION


# %%
check("lab05.q6")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# The order matters: `("send", 1)` before any commit is impossible, even if a commit follows.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Python can compare three numbers at once: `sent <= committed <= proposed`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The message of the `ValueError` is yours. Say which numbers do not fit.
#
# </details>
#
# Expected picture: a log, and the counts after it.

# %%
show("lab05.q6")

# %% [markdown]
# ## Plug your channel into the engine
#
# `plug` puts your `Channel` into the engine, one for each request, behind a lock (the engine puts from its own thread). It takes your channel only when its check says *done*.
#
# Two requests run side by side. One reader takes everything at once. The other one takes nothing for a while, then a little. With `channel_high=4` its request must pause, and the other one must not notice.
#
# The model is SmolLM2 (135 million weights, CPU). With the environment variable `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights.

# %%
import os

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
parts = plug("lab05", globals())
run = parts.two_readers(model)
run.summary

# %% [markdown]
# The log of the slow one, drawn from the events alone. `streaming` is the state in which a token is committed and waits for credit; look at the moves between it and `decode`.

# %%
run.timeline

# %% [markdown]
# The four counts of both, from the engine itself. Your `token_counts` reads the same history and must agree.

# %%
run.counts

# %% [markdown]
# Now a reader who never comes. After `slow_consumer_s` on the engine's clock (virtual here, so nobody waits) the request ends and gives its blocks back.

# %%
parts.a_reader_who_never_comes(model)

# %% [markdown]
# Try a fault. In the answer cell of question 4, leave out the line that sets `paused` at the high mark, run that cell, and run `plug("lab05", globals())`. Which check says *wrong*? What would the first run of this section have shown? Put it back.

# %% [markdown]
# ## Quiz

# %%
quiz("lab05")

# %% [markdown]
# ## Reflection
#
# Your company wants to send answers to phones. On the train a phone is offline for 20 seconds, several times an hour, and then it is fast again.
#
# In six to ten sentences: which high mark, low mark and limit would you choose, and what does each of them cost? Who pays for the tokens that were made and never sent, and where is that written down? What would you measure to find out that you chose wrongly?

# %% [markdown]
# <!-- lab05/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *The limit is longer than the gap.* 20 seconds of silence must not end the request, so the limit is larger (30 s, a minute). The cost is KV memory that a dead client holds for that long.
# 2. *The marks.* A high mark that covers what the model makes in the gap would let the device run on; a small one saves memory and device time and makes a pause, a gap at the reader and wake-ups. A low mark well below the high one avoids a wake-up for each token. Any consistent choice with its price counts.
# 3. *Unsent tokens have a stated meaning.* Either committed tokens are billed or sent ones are; it is written down, and the four counts are told apart.
# 4. *What to measure.* Ends with `slow_consumer` beside cancels; time in `streaming`; unsent tokens; proposed against sent. A rise of one of them after a change says that the choice was wrong.

# %% [markdown]
# ## What to read next
#
# - `course/ch05_backpressure.ipynb`: what a small buffer costs, and how other servers do it.
# - `inference_kit/streaming/channel.py`: the plain channel (your answer) and the engine's, side by side. `inference_kit/engine/core.py`: where credit is looked at, once for each step.
# - gRPC's guide on flow control: the same chain one layer below.
