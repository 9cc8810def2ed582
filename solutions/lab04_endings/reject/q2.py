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
# fails: all_three_at_once, the_earlier_one, the_same_instant, a_moment_counts
# fault: It does not compare the times.
def which_end(due, failed, cancelled, now, error):
    if due is not None and cancelled is None:
        return due
    if failed:
        return error, now
    return cancelled


# %% a limit always wins
# fails: all_three_at_once, the_earlier_one, a_moment_counts
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
# fails: all_three_at_once, a_failure_among_others
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
# fails: all_three_at_once, a_failure_among_others
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


# %% a failure looks at the limit only
# fails: all_three_at_once
# fault: After a failure every limit that has passed wins, also one that came after the cancel.
def which_end(due, failed, cancelled, now, error):
    if failed:
        return due if due is not None else (error, now)
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    return cancelled


# %% a cancel and a failure make an error
# fails: all_three_at_once
# fault: With a cancel on the table a failure wins over everything, also over an earlier limit.
def which_end(due, failed, cancelled, now, error):
    if failed and cancelled is not None:
        return error, now
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    return (error, now) if failed else cancelled


# %% the earliest of three
# fails: a_failure_among_others, all_three_at_once
# fault: A failure takes part in the race with the time of the boundary, so a cancel beats it.
def which_end(due, failed, cancelled, now, error):
    causes = [cause for cause in (due, cancelled, (error, now) if failed else None) if cause is not None]
    return min(causes, key=lambda cause: cause[1]) if causes else None


# %% a failure wins where nobody cancelled
# fails: a_failure_among_others
# fault: A failure that is noticed at the boundary hides the limit that had passed before it.
def which_end(due, failed, cancelled, now, error):
    if failed and cancelled is None:
        return error, now
    if due is not None and (cancelled is None or due[1] <= cancelled[1]):
        return due
    return (error, now) if failed else cancelled
