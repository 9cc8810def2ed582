# %% a missing time is 0
# fails: missing_time_gives_none
# fault: None is taken for 0, so a gap that nobody measured looks fast or slow.
def gap(start, end):
    return (end or 0.0) - (start or 0.0)


# %% only the start is looked at
# fails: missing_time_gives_none
# fault: A missing end raises TypeError.
def gap(start, end):
    return None if start is None else end - start


# %% a missing end is endless
# fails: missing_time_gives_none
# fault: What has not ended gets an infinite gap.
def gap(start, end):
    if end is None:
        return float("inf")
    return None if start is None else end - start


# %% the wrong way round
# fails: gap_of_two_times, zero_is_a_time
# fault: start minus end.
def gap(start, end):
    return None if start is None or end is None else start - end


# %% whole seconds
# fails: gap_of_two_times
# fault: The gap is rounded to whole seconds.
def gap(start, end):
    return None if start is None or end is None else float(round(end - start))


# %% 0 counts as missing
# fails: zero_is_a_time
# fault: "not start" is true for 0.0 as well.
def gap(start, end):
    if not start or not end:
        return None
    return end - start


# %% a gap of 0 is no gap
# fails: zero_is_a_time
# fault: A gap of 0 becomes None.
def gap(start, end):
    if start is None or end is None:
        return None
    return (end - start) or None
