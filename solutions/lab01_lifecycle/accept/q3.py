# %% read everything first, then follow the table
def walk(events):
    entries = [read_event(item, index) for index, item in enumerate(events)]
    for (_, earlier), (_, later) in zip(entries, entries[1:]):
        if later < earlier:
            raise IllegalHistory("time goes back")
    states = ["not_arrived"]
    for event, _ in entries:
        after = TRACE_TRANSITIONS[states[-1]].get(event)
        if after is None:
            raise IllegalHistory(f"{event} in {states[-1]}")
        states.append(after)
    if states[-1] not in ("completed", "cancelled", "timed_out", "failed"):
        raise IllegalHistory("no end")
    return [[event, at, before, after] for (event, at), before, after in zip(entries, states, states[1:])]


# %% recursive
def walk(events, state="not_arrived", last=0.0, index=0):
    if index == len(events):
        if state in TRACE_TRANSITIONS and not TRACE_TRANSITIONS[state]:
            return []
        raise ValueError("the log has no end")
    event, at = read_event(events[index], index)
    if at < last:
        raise ValueError("time goes back")
    try:
        after = TRACE_TRANSITIONS[state][event]
    except KeyError:
        raise ValueError(f"{event} is not legal in {state}") from None
    return [(event, at, state, after), *walk(events, after, at, index + 1)]
