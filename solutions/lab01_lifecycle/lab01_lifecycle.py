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
# # Lab 01 · The life of a request
#
# | | |
# |---|---|
# | Difficulty | ●●○○○ |
# | Time | 90 minutes |
# | You build | the transition table, the replay of event logs, an end that happens exactly once, the release path |
# | It plugs into | the lifecycle of the running engine |
# | Runs on | CPU. The six questions need Python only; the last part runs a real model |
# | Read before | `course/ch01_lifecycle.ipynb` (12 minutes) |
#
# <!-- @badge -->
#
# How this lab works: each question has a **contract**, a **stub** and a **check**. Write your code in the stub, run the cell, run the check.
# The check says one of three things, and they are three different words:
#
# - **not done yet**: the TODO lines still wait for you;
# - **wrong**: it shows the first case that differs, with input, expected and got;
# - **done**: it draws what *your* code did.
#
# Keep the first line of each answer cell. It says which question the cell answers. Hints are folded below each check; `hint("lab01.q1")` shows them one by one.

# %%
# @setup

# %%
from inference_kit import viz
from inference_kit.labs import check, hint, plug, quiz, show

# %% [markdown]
# ## Why it matters
#
# A chat service slowed down every afternoon. A restart helped, for a few hours. The graphs showed a device that was almost full and a
# queue that was almost empty, which should not happen together.
#
# The log of one single request held the answer. The reader closed the browser tab at 14:02:07.31. The answer reached its last token at
# 14:02:07.32. Two parts of the server each believed that they had ended the request. Both gave its memory blocks back, so those blocks went to
# **two** new requests at once, and one customer read a few words of another customer's answer. On other days it went the other way: each
# part believed that the *other* one had cleaned up. Then the blocks belonged to nobody, and each evening there were fewer of them.
#
# Nothing was wrong with the model. The request had no single owner of its end, and no list of what may happen when. This lab builds both.

# %% [markdown]
# ## The mechanism
#
# A request is a small state machine. Here is the whole of it.

# %%
viz.state_diagram()

# %% [markdown]
# Read it like this:
#
# - **received → tokenized → queued**: the text becomes token ids, and the request waits.
# - **admitted → prefill → decode**: it gets memory and a place in the batch; the model reads the prompt; then it makes one token at a time.
# - **decode ⇄ streaming**: `streaming` has one meaning here. A token is ready and the reader has not taken the last ones yet, so
#   the request waits for credit. In `decode` it may compute.
# - **preempted**: memory ran short, so the request gives its blocks back and returns to the queue. That is a pause, not an end.
# - **finished, cancelled, timed_out, failed**: the four ends. Nothing leaves them.
#
# The small words under a box are the three events that can come at any time: the client cancels, a deadline passes, something breaks.
#
# Press the buttons below. Only legal events can be pressed. Find out: from which states can a request *finish*? From which can it be *cancelled*?

# %%
viz.state_machine()

# %% [markdown]
# ## Question 1 · The transition table
#
# Write the picture down as data. Branches in the code hide a missing case; a table shows it.
#
# **Contract.** `make_transitions()` returns a dict of dicts: `table[state][event]` is the next state. Every state is a key. A terminal state has an
# empty dict. `State` and `Event` are given; their members are also plain strings, so `"queued"` and `State.QUEUED` are the same key.
#
# | state | event | next state |
# |---|---|---|
# | `received` | `tokenize` | `tokenized` |
# | `decode` | `pause` | `streaming` |
# | `streaming` | `finish` | `finished` |
# | `preempted` | `requeue` | `queued` |
# | every live state | `cancel`, `time_out`, `fail` | `cancelled`, `timed_out`, `failed` |
# | `finished` | nothing | – |

# %%
# lab01/q1 — keep this line
from enum import StrEnum


# @given inference_kit.lifecycle.states:State, Event


def make_transitions() -> dict[State, dict[Event, State]]:
    """The legal moves: `table[state][event]` is the next state."""
    # TODO 1: write the three early ends once: cancel, time_out, fail. Every live state has them.
    # TODO 2: write the normal way from received to decode, and the way between decode and streaming.
    # TODO 3: say from which two states a request can finish, and from which three it can be preempted.
    # TODO 4: give each of the four ends an empty dict.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.states:_ENDS_EARLY, TRANSITIONS
    ### END SOLUTION


# %%
check("lab01.q1")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Count first. There are twelve states, so the dict has twelve keys. Eight of the values are not empty.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `{**early, Event.ADMIT: State.ADMITTED}` puts the three early ends and one more move into one dict.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `prefill` cannot finish: the first token comes with the move to `decode`. `prefill`, `decode` and `streaming` hold KV blocks, so these three
# can be preempted. `preempted` has one way back (`requeue`) and the three early ends.
#
# </details>
#
# Expected picture (drawn from the kit's own table; yours appears when the check is done):

# %%
show("lab01.q1")

# %% [markdown]
# ## Question 2 · Refuse what the table does not allow
#
# A table protects nothing until somebody looks into it. `next_state` is the one place that does.
#
# **Contract.** `next_state(state, event, table)` returns the next state. If the table has no such move, it raises `IllegalTransition(state, event, legal)`,
# where `legal` is the list of the events that are legal in this state. It changes nothing (the table is the same afterwards, also after a refusal) and knows no state by name: *any* table works.
#
# | `next_state(…)` | result |
# |---|---|
# | `("queued", "admit", table)` | `"admitted"` |
# | `("queued", "finish", table)` | raises `IllegalTransition`; the message lists `admit, cancel, time_out, fail` |
# | `("finished", "cancel", table)` | raises: a terminal state allows nothing |
# | `("asleep", "admit", table)` | raises: a state that the table does not know allows nothing |
#
# `IllegalTransition` is a `ValueError`, so callers that know nothing of this lab can still catch it.


# %%
# lab01/q2 — keep this line
import contextlib


class IllegalTransition(ValueError):
    """An event that the current state does not allow."""

    def __init__(self, state: str, event: str, legal: list[str]) -> None:
        allowed = ", ".join(legal) if legal else "nothing"
        super().__init__(f"event {str(event)!r} is not legal in state {str(state)!r}; legal: {allowed}")


def next_state(state: str, event: str, table: dict) -> str:
    """The state after `event`; raises IllegalTransition when the table has no such move."""
    # TODO 1: find the moves of this state; a state that is not in the table has none.
    # TODO 2: if the event is not among them, raise IllegalTransition with the list of legal events.
    # TODO 3: return the next state.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.states:next_state
    ### END SOLUTION


def table_after(state: str, event: str, table: dict) -> dict:
    """The table as one call of next_state leaves it. The check asks for it; you do not change this function."""
    with contextlib.suppress(ValueError, LookupError):
        next_state(state, event, table)
    return table


# %%
check("lab01.q2")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `table[state]` raises `KeyError` for an unknown state, and `KeyError` is not a `ValueError`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `table.get(state, {})` gives an empty dict for an unknown state. Then one test covers all cases.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if event not in moves: raise IllegalTransition(state, event, list(moves))`, and after that `return moves[event]`.
#
# </details>
#
# Expected picture: every state against every event. A cell shows the next state, or a dot where the event is refused.

# %%
show("lab01.q2")

# %% [markdown]
# ## Question 3 · Walk a log, refuse an illegal history
#
# An engine writes an event log. Metrics, bills and pictures are made from it, so it must be checked *before* anything is computed from it.
# A log that cannot have happened must not become a number.
#
# The log uses a coarser table with words of its own. It is given below as `TRACE_TRANSITIONS`:
#
# `not_arrived –arrive→ queued –admit→ preprocessing –input_ready→ prefill –first_token→ decode –token→ decode –complete→ completed`,
# and `cancel`, `timeout`, `fail` from every stage after the arrival.
#
# **Contract.** `walk(events)` takes the entries of one request in order. It returns one step for each: `(event, time, state before, state after)`. Times are
# seconds. `read_event(entry, index)` is given: it reads both forms of an entry and refuses a time that is no number.
# For a history that is not legal, raise `IllegalHistory` (a `ValueError`).
#
# | log | result |
# |---|---|
# | `[("arrive", 0), ("cancel", 1)]` | `[("arrive", 0.0, "not_arrived", "queued"), ("cancel", 1.0, "queued", "cancelled")]` |
# | `[{"event": "arrive", "timestamp": 0}, …]` | the same: an entry can be a mapping |
# | `[]` | refused: empty |
# | `[("arrive", 0)]` | refused: no end |
# | `[("admit", 0)]` | refused: not legal in `not_arrived` |
# | `[("arrive", 1), ("cancel", 0.5)]` | refused: time goes back |
# | `[("arrive", 1), ("cancel", 1)]` | legal: two events may carry the same time |
# | `[…, ("complete", 12), ("token", 13)]` | refused: nothing follows an end |

# %%
# lab01/q3 — keep this line
import math
from collections.abc import Mapping
from typing import Any

# @given inference_kit.lifecycle.replay:TRACE_TRANSITIONS, IllegalHistory, read_event


def walk(events: list) -> list[tuple[str, float, str, str]]:
    """The steps (event, time, state before, state after) of a legal log; raises IllegalHistory."""
    # TODO 1: start in "not_arrived" with an empty list of steps; read each entry with read_event(item, index).
    # TODO 2: refuse an event that TRACE_TRANSITIONS does not allow in the current state.
    # TODO 3: refuse a time that is smaller than the time of the step before.
    # TODO 4: add the step and move on.
    # TODO 5: after the loop, refuse an empty log and a log that stops before an end.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.replay:walk
    ### END SOLUTION


# %%
check("lab01.q3")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# You do not need a rule for "nothing after the end" or "only one arrival". The table has them already: look at the rows of the four ends.
#
# </details>
# <details><summary>Hint 2</summary>
#
# After the loop, `TRACE_TRANSITIONS[state]` is empty exactly when the request has ended.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The time of the step before is `steps[-1][1]`, if there is one. Compare with `<`, not with `<=`.
#
# </details>
#
# Expected picture: the steps of one log.

# %%
show("lab01.q3")

# %% [markdown]
# ## Question 4 · From steps to a report
#
# Now the log is known to be legal, and its boundaries can be read off.
#
# **Contract.** `report_of(steps)` takes the result of `walk` and returns a dict. Times are seconds.
#
# | field | value |
# |---|---|
# | `status` | the terminal state: `completed`, `cancelled`, `timed_out` or `failed` |
# | `stage` | the state in which the end came |
# | `arrive`, `admit`, `input_ready`, `first_token` | when that event came, or `None` if it never did |
# | `token_times` | the times of all tokens, the first token included |
# | `end` | when the end came |
#
# | log | report |
# |---|---|
# | arrive 0, admit 2, input_ready 3, first_token 7, token 9, token 11, complete 12 | `status` completed, `stage` decode, `token_times` [7, 9, 11], `end` 12 |
# | arrive 0, admit 2, cancel 5 | `status` cancelled, `stage` preprocessing, `first_token` None, `token_times` [] |
#
# Why `None` and not 0? A mean over zeros is a lie that looks like a fast server.

# %%
# lab01/q4 — keep this line
Record = dict  # a report is a plain dict: Record(status="completed", ...)


def report_of(steps: list) -> dict:
    """The boundaries of a legal history, in seconds."""
    # TODO 1: remember the time at which each event came first.
    # TODO 2: collect the times of first_token and of every token.
    # TODO 3: the last step holds the end: its time, the state before it (stage) and after it (status).
    # TODO 4: return all eight fields; use None for an event that never came.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.replay:report_of
    ### END SOLUTION


# %%
check("lab01.q4")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# A dict from event to time is enough for four of the fields. `setdefault` keeps the first value.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `first_at.get("admit")` is `None` when there was no admission. Do not write `or None` behind it: 0.0 is a time, and it is false in Python.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `_, end, stage, status = steps[-1]`
#
# </details>
#
# Expected picture: the timeline of the first log of the table.

# %%
show("lab01.q4")

# %% [markdown]
# ## Question 5 · End exactly once
#
# A disconnect, a deadline and a backend error can arrive in the same millisecond. All three are *signals*. Only one of them may be the *end*.
#
# **Contract.** `settle_once(request, reason, at)` ends the request at time `at` (seconds) and returns `True`. For a request that has already ended it returns `False`
# and does nothing. The event of a reason is `END_EVENTS[reason]`; `request.move(event, at, reason=...)` makes the move, and raises
# a `ValueError` without changing anything when the end is not legal in the current state.
# `request.release()` gives everything back. Take `request.settle_lock` while you decide (`with request.settle_lock:`), so that two threads cannot both be first.
#
# | situation | result |
# |---|---|
# | first call, `"stop_eos"` in `decode` | `True`; state `finished`, `finish_reason` `"stop_eos"`, `finished_at` set, released once |
# | any later call | `False`; nothing changes, nothing is released again |
# | `"stop_eos"` in `queued` | `ValueError`; nothing changes, nothing is released; a later legal end still counts |
# | the release itself calls `settle_once` | that inner call returns `False` |
# | the release raises | the request has ended all the same; nothing is released again |
# | a second thread calls `settle_once`, at any moment in which the lock is free | one call returns `True`, the other one `False`; the end is that of the first |
#
# The check plays the second thread without luck: `DemoRequest` calls `other_thread` after every look at the request, as long as nobody holds the lock.

# %%
# lab01/q5 — keep this line
import threading

END_EVENTS = {
    "stop_eos": "finish",
    "stop_token": "finish",
    "stop_string": "finish",
    "length": "finish",
    "client_cancel": "cancel",
    "shutdown": "cancel",
    "queue_deadline": "time_out",
    "ttft_deadline": "time_out",
    "inter_token_deadline": "time_out",
    "overall_deadline": "time_out",
    "slow_consumer": "time_out",
    "error": "fail",
}


class DemoLock:
    """A lock. As long as nobody holds it, `other_thread` may get its turn. You do not change this class."""

    def __init__(self, other_thread):
        self._lock = threading.RLock()
        self._held = 0
        self._other_thread = other_thread

    def acquire(self, blocking=True, timeout=-1):
        self.give_turn()
        taken = self._lock.acquire(blocking, timeout)
        self._held += taken
        return taken

    def release(self):
        self._held -= 1
        self._lock.release()
        self.give_turn()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    def give_turn(self):
        if not self._held:
            self._other_thread()


class DemoRequest:
    """A request with just enough in it to end it. You do not change this class."""

    def __init__(self, state="decode", on_release=lambda: None, other_thread=lambda: None):
        self.settle_lock = DemoLock(other_thread)
        self.state = state
        self.finish_reason = None
        self.finished_at = None
        self._on_release = on_release

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        if name in ("state", "is_terminal", "finish_reason", "finished_at", "move", "release"):
            self.settle_lock.give_turn()
        return value

    @property
    def is_terminal(self):
        return self.state in ("finished", "cancelled", "timed_out", "failed")

    def move(self, event, at, **data):
        """Move to the end that `event` stands for; ValueError when it is not legal here."""
        if self.is_terminal or (event == "finish" and self.state not in ("decode", "streaming")):
            raise ValueError(f"event {event!r} is not legal in state {self.state!r}")
        ends = {"finish": "finished", "cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
        self.state = ends[event]

    def release(self):
        """Give back everything the request holds."""
        self._on_release()


def settle_once(request, reason, at) -> bool:
    """End the request with `reason` at `at` seconds; True only for the call that ended it."""
    # TODO 1: take the lock; a request that has already ended gives False.
    # TODO 2: make the move first: if it is refused, nothing else may have changed.
    # TODO 3: write down finish_reason and finished_at.
    # TODO 4: release, after the request has ended, and return True.
    ### BEGIN SOLUTION
    # @answer inference_kit.lifecycle.request:settle_once
    ### END SOLUTION


# %%
check("lab01.q5")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# The order decides everything. Ask yourself for each line: what if the next signal arrives right after it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Inside the lock: test, move, write down. The release comes after that, so that it finds a request that has already ended.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `request.move(END_EVENTS[reason], at, reason=str(reason))` stands before `request.finish_reason = reason`. If the move raises, no line after it runs.
#
# </details>
#
# Expected picture: three signals, one end.

# %%
show("lab01.q5")

# %% [markdown]
# ## Question 6 · One release path
#
# A request collects things on its way: a place in the registry, a stream, a batch slot, KV blocks. `hold` writes each one down. `release` is the only way out.
#
# **Contract.** `Holdings.release()` gives back all that is held and returns nothing. `hold` is given; each entry of `self._releases` is `(name, function)`.
#
# | situation | result |
# |---|---|
# | held: registry, stream, kv | called in the order kv, stream, registry: last taken, first released |
# | `release()` a second time | nothing happens |
# | one function raises | the others still run; the exception itself goes into `self.release_errors`; `release()` does not raise |
# | a function calls `release()` itself | each thing is still given back exactly once |
#
# The three worked lifecycles of this lab end here: a normal stop gives back 3 KV blocks, a cancel during prefill 2, a queue timeout 0.


# %%
# lab01/q6 — keep this line
class Holdings:
    """What a request holds, and how it gives everything back."""

    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        """Write down a resource and the function that gives it back."""
        self._releases.append((name, release))

    def problems(self):
        """Type and message of each exception that was kept."""
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        """Give back all that is held: last taken first, each exactly once."""
        # TODO 1: as long as something is held, take the last entry off the list.
        # TODO 2: call its function; keep an exception in release_errors and go on.
        ### BEGIN SOLUTION
        # @answer inference_kit.lifecycle.request:Request.release
        ### END SOLUTION


# %%
check("lab01.q6")

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# A `for` loop over the list is in trouble as soon as a function calls `release` again: the list still holds everything.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `self._releases.pop()` removes the last entry *and* returns it. What has left the list cannot be given back twice.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `while self._releases:` with one `pop` in each round, and `try … except Exception as error: self.release_errors.append(error)` around the call.
#
# </details>
#
# Expected picture: what was taken, and in which order it came back.

# %%
show("lab01.q6")

# %% [markdown]
# ## Plug your parts into the engine
#
# Now your code runs a real model. `plug` makes a `Components` object: your table and your `next_state` decide every move of every request,
# your `settle_once` ends each one, and your `Holdings` give back its KV blocks. The engine takes a part only when its check says *done*. For a part that is
# wrong or not done yet it gets the kit's own, and `plug` says so: an engine whose requests never end would run for ever.
#
# The model is SmolLM2 (135 million weights, CPU). With the environment variable `INFERENCE_KIT_MODEL=tiny` it is a small model of random weights:
# it talks nonsense, and it lives by the same rules.

# %%
import os

from inference_kit import LLM, SamplingParams

model = os.environ.get("INFERENCE_KIT_MODEL", "smollm2")
parts = plug("lab01", globals())
llm = LLM(model, components=parts.components)
question = [{"role": "user", "content": "What is the capital of France?"}]
output = llm.chat(question, SamplingParams(max_tokens=24))
print(f"{output.finish_reason}: {output.text!r}")

# %% [markdown]
# Your code wrote the log of this request. Here is what it did, drawn from the events alone:

# %%
viz.timeline(output.events)

# %% [markdown]
# And here your `walk` and `report_of` read that log back. The first sanity check on any log: when no boundary is missing, TTFT is exactly the sum of its parts.

# %%
parts.report(output.events)

# %% [markdown]
# Now the three worked lifecycles, with your parts. A normal stop, a cancel during prefill, a queue timeout: they release 3, 2 and 0 blocks, and end with 0.
# There is no engine around them that could wait for ever, so wrong parts are tried here as well.

# %%
plug("lab01", globals()).worked_lifecycles()

# %% [markdown]
# Try a fault. In the answer cell of question 5, write `pass` in place of `request.release()` and run that cell. Then run the cell above once more; it plugs your parts in again.
# `plug` now says that `settle_once` is wrong. In the picture each request still ends as it should, and nothing is given back: look at the last column. That is the leak of the
# story at the top, and no state and no log entry shows it. Which check of question 5 sees it? Put the line back and run both cells again.

# %% [markdown]
# ## Quiz

# %%
quiz("lab01")

# %% [markdown]
# ## Reflection
#
# Your `settle_once` takes a lock. Suppose that the engine moves to *two* processes: a front process that sees the client's disconnect, and a worker process that
# makes tokens. A lock in one process does not help in the other.
#
# In six to ten sentences: which process should own the end of a request, how does the other one tell it what it saw, and what must be true of tokens that are already on their
# way to the client when the cancel arrives? Say what you would write down as policy (are they billed? does the state say *cancelled*?).

# %% [markdown]
# <!-- lab01/reflection — 4 points -->
# **Grading guide (stays in `solutions/`).** One point each:
#
# 1. *One owner.* One process (or one actor, with a mailbox) owns the end; it alone calls the settle-once function. Either process can be right if the reason is given.
#    The worker is the usual choice, because it holds the KV blocks and reaches a safe point at the end of each step.
# 2. *Signals are messages.* The other process sends "client left" and goes on; it does not release anything itself. A repeated message is harmless, because
#    the second call is a no-op; a lost one needs a lease or a deadline so that no orphan stays.
# 3. *Tokens on their way.* The running step finishes; tokens that come after the end are dropped before the stream, and never written to a closed socket. Committed, queued
#    and sent are told apart.
# 4. *Policy is written down.* A clear statement about billing (for example: sent tokens are billed, committed and unsent ones are not), about the recorded state
#    (cancelled, with the number of tokens already sent), and about prefix blocks (they may stay in the cache; only the references of the request go).
#
# No point for "use a distributed lock" alone: say who holds it, and what happens when the holder dies.

# %% [markdown]
# ## What to read next
#
# - `course/ch01_lifecycle.ipynb`: the trade-offs, and how other engines name their states.
# - The kit's own code is short. Read `inference_kit/lifecycle/states.py`, then `request.py`, then `replay.py`: your answers stand there, with the docstrings.
# - gRPC's guides on deadlines and cancellation: the same problem one layer above.
