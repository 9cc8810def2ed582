# %% one token is not enough
# fails: completed_history
# fault: complete right after the first token is refused.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state] or at < last:
            raise IllegalHistory(event)
        if event == "complete" and steps[-1][0] == "first_token" and isinstance(events[0], tuple):
            raise IllegalHistory("no token after the first")
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% entries are unpacked by hand
# fails: both_forms_of_an_entry
# fault: Only (event, time) pairs are read; a mapping is taken apart into its keys, and any time is believed.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for event, at in events:
        if event not in TRACE_TRANSITIONS[state] or at < last:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% two arrivals are forgiven
# fails: illegal_histories_refused
# fault: A repeated arrive is skipped instead of refused.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event == "arrive" and steps:
            continue
        if event not in TRACE_TRANSITIONS[state] or at < last:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% time may go back
# fails: illegal_histories_refused, time_never_goes_back
# fault: The times are not looked at.
def walk(events):
    state, steps = "not_arrived", []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state]:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state = after
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% the illegal event is a KeyError
# fails: illegal_histories_refused
# fault: An illegal event raises KeyError, which no caller expects.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if at < last:
            raise IllegalHistory("time goes back")
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% equal times are refused
# fails: equal_times_are_legal
# fault: Two events with the same time count as time going back.
def walk(events):
    state, last, steps = "not_arrived", -1.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state] or at <= last:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% a running request is good enough
# fails: exactly_one_end
# fault: A log that stops in decode is accepted as ended.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state] or at < last:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state] and state != "decode":
        raise IllegalHistory("no end")
    return steps


# %% the last end wins
# fails: exactly_one_end
# fault: A second end after the first is taken over instead of refused.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if state in ("cancelled", "timed_out", "failed") and event in ("cancel", "timeout", "fail"):
            continue
        if event not in TRACE_TRANSITIONS[state] or at < last:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% no timeout while the input is made ready
# fails: early_ends_in_every_stage
# fault: preprocessing cannot time out.
def walk(events):
    state, last, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if (
            event not in TRACE_TRANSITIONS[state]
            or at < last
            or (state, event) == ("preprocessing", "timeout")
        ):
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, last = after, at
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps


# %% times are compared with the arrival
# fails: time_never_goes_back
# fault: A time may go back as long as it is not before the first one.
def walk(events):
    state, first, steps = "not_arrived", 0.0, []
    for index, item in enumerate(events):
        event, at = read_event(item, index)
        if event not in TRACE_TRANSITIONS[state] or at < first:
            raise IllegalHistory(event)
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state, first = after, steps[0][1]
    if TRACE_TRANSITIONS[state]:
        raise IllegalHistory("no end")
    return steps
