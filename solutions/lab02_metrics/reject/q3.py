# %% over n − 1
# fails: a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: The difference is shared among the gaps, and not among the tokens.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (tail_s - gap_s) / (num_tokens - 1)


# %% the tail is forgotten
# fails: agree_when_the_tail_is_one_gap, a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: The end is taken for the last token.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return -gap_s / num_tokens


# %% the sign
# fails: a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: Says how far it lies below, and not above.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (gap_s - tail_s) / num_tokens


# %% only the distance
# fails: a_short_tail_looks_faster
# fault: The sign is thrown away.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return abs(tail_s - gap_s) / num_tokens


# %% n gaps instead of n − 1
# fails: agree_when_the_tail_is_one_gap, a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: Counts as many gaps as tokens, and the tail on top.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (num_tokens * gap_s + tail_s) / num_tokens - gap_s


# %% not divided
# fails: a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: The whole difference of tail and gap, for any number of tokens.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return tail_s - gap_s


# %% agreement is None
# fails: agree_when_the_tail_is_one_gap
# fault: Where the formulas agree there is said to be nothing to report.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    if gap_s and tail_s == gap_s:
        return None
    return (tail_s - gap_s) / num_tokens


# %% never below
# fails: a_short_tail_looks_faster
# fault: Cut off at 0: the other formula is thought to be the larger one always.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return max(0.0, (tail_s - gap_s) / num_tokens)


# %% at least three tokens
# fails: a_short_tail_looks_faster
# fault: Divides by three or more, as if two tokens were too few for a rate.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (tail_s - gap_s) / max(num_tokens, 3)


# %% never above
# fails: a_long_tail_looks_slower, the_difference_of_any_trace
# fault: Cut off at 0: the other formula is thought to be the smaller one always.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return min(0.0, (tail_s - gap_s) / num_tokens)


# %% a tail has a limit
# fails: a_long_tail_looks_slower
# fault: A tail longer than eight gaps is cut.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (min(tail_s, 8 * gap_s) - gap_s) / num_tokens


# %% no gap is a gap of 0
# fails: no_gap_no_difference
# fault: None is taken for 0, so one token shows its whole tail.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    return (tail_s - (gap_s or 0.0)) / max(num_tokens, 1)


# %% no gap, no difference, 0
# fails: no_gap_no_difference
# fault: Gives 0 where there is nothing to compare.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return 0.0
    return (tail_s - gap_s) / num_tokens


# %% a gap of 0 is no gap
# fails: the_difference_of_any_trace
# fault: `if not gap_s` is true for 0.0 too.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if not gap_s:
        return None
    return (tail_s - gap_s) / num_tokens


# %% rounded to tenths
# fails: a_short_tail_looks_faster, the_difference_of_any_trace
# fault: Rounds to a tenth of a second.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return round((tail_s - gap_s) / num_tokens, 1)


# %% the other formula itself
# fails: agree_when_the_tail_is_one_gap, a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: Returns (finish − first)/n instead of its difference from the mean gap.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return ((num_tokens - 1) * gap_s + tail_s) / num_tokens


# %% a ratio
# fails: a_short_tail_looks_faster, a_long_tail_looks_slower, the_difference_of_any_trace
# fault: Says by what share of the gap, and not by how many seconds.
def service_tpot_excess(num_tokens, gap_s, tail_s):
    if gap_s is None:
        return None
    return (tail_s - gap_s) / num_tokens / gap_s if gap_s else 0.0
