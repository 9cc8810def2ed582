# %% always an end
# fails: nothing_ends_it
# fault: Without a cause it ends the request with an error.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed:
        return error, now
    return cancelled or (error, now)


# %% a cancel alone is overlooked
# fails: each_cause_alone, a_moment_counts, the_earlier_one
# fault: It returns None where only a cancel is left.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed:
        return error, now
    return None


# %% a failure is dated by a constant
# fails: each_cause_alone
# fault: An early failure is dated at 9 seconds.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed:
        return error, max(now, 9.0)
    return cancelled


# %% a cancel always wins
# fails: the_earlier_one, the_same_instant, a_moment_counts
# fault: It does not compare the times.
def which_end(due, failed, cancelled, now, error):
    if due is not None and cancelled is None:
        return due
    if failed:
        return error, now
    return cancelled


# %% a limit always wins
# fails: the_earlier_one, a_moment_counts
# fault: It does not compare the times.
def which_end(due, failed, cancelled, now, error):
    if due is not None:
        return due
    if failed:
        return error, now
    return cancelled


# %% only a much earlier cancel loses
# fails: the_earlier_one
# fault: A cancel within two seconds after the limit wins.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (
        cancelled is None or (due[1] <= cancelled[1] and not cancelled[1] - due[1] == 2.0)
    ):
        return due
    if failed:
        return error, now
    return cancelled


# %% a cancel wins the same instant
# fails: the_same_instant
# fault: It compares with <.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] < cancelled[1]):
        return due
    if failed:
        return error, now
    return cancelled


# %% a failure first
# fails: a_failure_among_others
# fault: A failure wins over a limit that passed before it.
def which_end(due, failed, cancelled, now, error):
    if failed:
        return error, now
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed:
        return error, now
    return cancelled


# %% a cancel hides a failure
# fails: a_failure_among_others
# fault: The caller who cancelled never hears of the failure.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    if failed and cancelled is None:
        return error, now
    return cancelled


# %% a moment does not count
# fails: a_moment_counts
# fault: A cancel that came a moment before the limit is too late.
def which_end(due, failed, cancelled, now, error):
    if due is not None and (cancelled is None or due[1] <= cancelled[1] + 0.3):
        return due
    if failed:
        return error, now
    return cancelled
