# %% input_ready and admit are swapped
# fails: boundaries_of_a_whole_log, missing_boundary_is_none, zero_is_a_time
# fault: Two boundaries are read from each other's event.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("input_ready"),
        input_ready=at.get("admit"),
        first_token=at.get("first_token"),
    )


# %% times count from the arrival of the second event
# fails: boundaries_of_a_whole_log
# fault: end is the time of the last token, not of the end.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    if tokens:
        end = tokens[-1]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )


# %% a missing boundary is 0
# fails: missing_boundary_is_none, zero_is_a_time
# fault: A boundary that never came is reported as 0.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit", 0.0),
        input_ready=at.get("input_ready", 0.0),
        first_token=at.get("first_token", 0.0),
    )


# %% a missing boundary is the end
# fails: missing_boundary_is_none
# fault: An event that never came gets the time of the end.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit", end or None),
        input_ready=at.get("input_ready", end or None),
        first_token=at.get("first_token", end or None),
    )


# %% stage is the state after the end
# fails: status_and_stage
# fault: stage repeats the status.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, _, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=status,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )


# %% status is the name of the event
# fails: status_and_stage
# fault: status is complete or cancel instead of completed or cancelled.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    status, end, stage, _ = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )


# %% the first token is not counted
# fails: token_times_with_the_first, token_times_hold_every_token
# fault: token_times starts with the second token.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event == "token"]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )


# %% 0 counts as missing
# fails: zero_is_a_time
# fault: A time of 0.0 is false in Python, and becomes None.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens,
        arrive=at["arrive"],
        admit=at.get("admit") or None,
        input_ready=at.get("input_ready") or None,
        first_token=at.get("first_token") or None,
    )


# %% no tokens is None
# fails: token_times_with_the_first
# fault: token_times is None and not an empty list when no token came.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=tokens or None,
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )


# %% two tokens at one time count once
# fails: token_times_hold_every_token
# fault: The times are collected in a set.
def report_of(steps):
    at = {event: time for event, time, _, _ in reversed(steps)}
    _, end, stage, status = steps[-1]
    tokens = [time for event, time, _, _ in steps if event in ("first_token", "token")]
    return dict(
        status=status,
        stage=stage,
        end=end,
        token_times=sorted(set(tokens)),
        arrive=at["arrive"],
        admit=at.get("admit"),
        input_ready=at.get("input_ready"),
        first_token=at.get("first_token"),
    )
