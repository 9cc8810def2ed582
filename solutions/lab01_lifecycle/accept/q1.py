# %% plain strings, every row written out
def make_transitions():
    return {
        "received": {
            "tokenize": "tokenized",
            "cancel": "cancelled",
            "time_out": "timed_out",
            "fail": "failed",
        },
        "tokenized": {"enqueue": "queued", "cancel": "cancelled", "time_out": "timed_out", "fail": "failed"},
        "queued": {"admit": "admitted", "cancel": "cancelled", "time_out": "timed_out", "fail": "failed"},
        "admitted": {
            "start_prefill": "prefill",
            "cancel": "cancelled",
            "time_out": "timed_out",
            "fail": "failed",
        },
        "prefill": {
            "start_decode": "decode",
            "preempt": "preempted",
            "cancel": "cancelled",
            "time_out": "timed_out",
            "fail": "failed",
        },
        "decode": {
            "pause": "streaming",
            "preempt": "preempted",
            "finish": "finished",
            "cancel": "cancelled",
            "time_out": "timed_out",
            "fail": "failed",
        },
        "streaming": {
            "resume": "decode",
            "preempt": "preempted",
            "finish": "finished",
            "cancel": "cancelled",
            "time_out": "timed_out",
            "fail": "failed",
        },
        "preempted": {"requeue": "queued", "cancel": "cancelled", "time_out": "timed_out", "fail": "failed"},
        "finished": {},
        "cancelled": {},
        "timed_out": {},
        "failed": {},
    }


# %% built from a list of edges
EDGES = """
received tokenize tokenized
tokenized enqueue queued
queued admit admitted
admitted start_prefill prefill
prefill start_decode decode
decode pause streaming
streaming resume decode
decode finish finished
streaming finish finished
prefill preempt preempted
decode preempt preempted
streaming preempt preempted
preempted requeue queued
"""


def make_transitions():
    ends = (State.FINISHED, State.CANCELLED, State.TIMED_OUT, State.FAILED)
    table = {state: {} for state in State}
    for line in EDGES.split("\n"):
        if line:
            state, event, target = line.split()
            table[State(state)][Event(event)] = State(target)
    for state in State:
        if state not in ends:
            for event, target in zip((Event.CANCEL, Event.TIME_OUT, Event.FAIL), ends[1:]):
                table[state][event] = target
    return table
