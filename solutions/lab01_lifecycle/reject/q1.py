# %% streaming cannot finish
# fails: normal_path
# fault: A request in streaming must first resume before it can finish.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% ends are missing as keys
# fails: ends_absorb
# fault: The four ends are left out of the table.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
    }


# %% an end can still be cancelled
# fails: ends_absorb
# fault: A late cancel turns a finished request into a cancelled one.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {"cancel": "cancelled"},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% nothing can fail before it runs
# fails: early_ends_from_every_live_state
# fault: received, tokenized and queued have no time_out and no fail.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", "cancel": "cancelled"},
        "tokenized": {"enqueue": "queued", "cancel": "cancelled"},
        "queued": {"admit": "admitted", "cancel": "cancelled"},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% a preempted request cannot be cancelled
# fails: early_ends_from_every_live_state
# fault: preempted is treated as if nothing could reach it.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued"},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% preemption goes on where it stopped
# fails: preemption_is_a_pause
# fault: preempted returns to prefill without waiting in the queue.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "prefill", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% only decode can be preempted
# fails: preemption_is_a_pause
# fault: prefill and streaming hold blocks and cannot be preempted.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% prefill can finish
# fails: nothing_else_is_legal
# fault: A request may finish before its first token.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", "finish": "finished", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% queued can be preempted
# fails: nothing_else_is_legal
# fault: A request that holds nothing can be asked to give it back.
def make_transitions():
    early = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}
    return {
        "received": {"tokenize": "tokenized", **early},
        "tokenized": {"enqueue": "queued", **early},
        "queued": {"admit": "admitted", "preempt": "preempted", **early},
        "admitted": {"start_prefill": "prefill", **early},
        "prefill": {"start_decode": "decode", "preempt": "preempted", **early},
        "decode": {"pause": "streaming", "preempt": "preempted", "finish": "finished", **early},
        "streaming": {"resume": "decode", "preempt": "preempted", "finish": "finished", **early},
        "preempted": {"requeue": "queued", **early},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }
