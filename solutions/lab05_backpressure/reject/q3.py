# %% pauses behind the high mark
# fails: pauses_at_the_high_mark
# fault: It pauses one token too late.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent > high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% one mark
# fails: stays_paused_between_the_marks, paused_at_time_zero
# fault: It goes on as soon as it is below the high mark.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent < high else paused_since), False


# %% the pause starts again
# fails: stays_paused_between_the_marks, the_limit_ends_it, no_limit
# fault: Each boundary above the low mark starts the clock anew, so the limit never comes.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else (now if paused_since else paused_since)), False


# %% goes on below the low mark
# fails: goes_on_at_the_low_mark, no_limit
# fault: It goes on one token too late.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent < low else paused_since), False


# %% goes on only when all is taken
# fails: goes_on_at_the_low_mark
# fault: It waits until almost nothing is left when there is a limit.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= (low if limit_s is None else 0) else paused_since), False


# %% the limit is met at equality
# fails: the_limit_ends_it
# fault: It ends a moment too late.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now > paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% the marks before the limit
# fails: the_limit_ends_it
# fault: A reader who comes in the last moment is let go on.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if unsent <= low:
        return None, False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% None is a limit of zero
# fails: no_limit
# fault: Without a limit it ends at once.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if now >= paused_since + (limit_s or 0):
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% an ended stream forgets since when
# fails: the_limit_ends_it
# fault: It returns None for the time of an ended stream.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return None, True
    return (None if unsent <= low else paused_since), False


# %% time zero is no time
# fails: paused_at_time_zero
# fault: It asks whether paused_since is true, and 0.0 is not.
def watch(unsent, paused_since, now, high, low, limit_s):
    if not paused_since:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% one mark, most of the time
# fails: stays_paused_between_the_marks
# fault: A stream that paused later than 0.0 goes on as soon as it is below the high mark.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    if paused_since and unsent < high:
        return None, False
    return (None if unsent <= low else paused_since), False


# %% a pause begins again at every look
# fails: stays_paused_between_the_marks, the_limit_ends_it, no_limit
# fault: A full stream is dated now each time, so the limit never passes.
def watch(unsent, paused_since, now, high, low, limit_s):
    if unsent >= high:
        return now, False
    if paused_since is None or unsent <= low:
        return None, False
    return paused_since, limit_s is not None and now >= paused_since + limit_s


# %% the limit is reported at its own time
# fails: the_limit_ends_it
# fault: An ended stream gets the end as the beginning of its pause.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since + limit_s, True
    return (None if unsent <= low else paused_since), False


# %% a full stream goes on only when it is empty
# fails: goes_on_at_the_low_mark, no_limit
# fault: The low mark is not used.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent == 0 else paused_since), False


# %% a limit that has passed is told only while it is full
# fails: the_limit_ends_it
# fault: Between the marks the limit is not looked at.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= paused_since + limit_s and (unsent >= high or unsent <= low):
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% the limit is counted from the start of the clock
# fails: the_limit_ends_it
# fault: The time of the pause is not subtracted.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent >= high else None), False
    if limit_s is not None and now >= limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False


# %% a stream far behind the high mark does not pause
# fails: pauses_at_the_high_mark
# fault: Equality is asked for, and a step of several tokens jumps over it.
def watch(unsent, paused_since, now, high, low, limit_s):
    if paused_since is None:
        return (now if unsent == high else None), False
    if limit_s is not None and now >= paused_since + limit_s:
        return paused_since, True
    return (None if unsent <= low else paused_since), False
