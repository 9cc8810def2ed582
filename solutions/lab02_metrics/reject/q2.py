# %% divides by the tokens
# fails: gaps_are_counted_not_tokens, uneven_gaps, tokens_at_one_time, gaps_of_any_answer
# fault: n tokens are taken for n gaps.
def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return (token_times[-1] - token_times[0]) / len(token_times)


# %% two tokens are halved
# fails: gaps_are_counted_not_tokens
# fault: Divides by at least two, to be safe from a division by zero.
def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return (token_times[-1] - token_times[0]) / max(len(token_times) - 1, 2)


# %% two tokens are too few
# fails: gaps_are_counted_not_tokens, tokens_at_one_time
# fault: An answer of two tokens has one gap; here it has none.
def mean_gap(token_times):
    if len(token_times) <= 2:
        return None
    return (token_times[-1] - token_times[0]) / (len(token_times) - 1)


# %% one token has a gap of 0
# fails: no_gap_gives_none
# fault: The formula's denominator is kept away from 0, so one token gives 0.
def mean_gap(token_times):
    if not token_times:
        return None
    return (token_times[-1] - token_times[0]) / max(len(token_times) - 1, 1)


# %% no token, gap 0
# fails: no_gap_gives_none
# fault: An answer without a token gets 0.
def mean_gap(token_times):
    if not token_times:
        return 0.0
    if len(token_times) < 2:
        return None
    return (token_times[-1] - token_times[0]) / (len(token_times) - 1)


# %% divides by zero
# fails: no_gap_gives_none
# fault: The short answers are forgotten.
def mean_gap(token_times):
    return (token_times[-1] - token_times[0]) / (len(token_times) - 1)


# %% the last gap
# fails: uneven_gaps, tokens_at_one_time, gaps_of_any_answer
# fault: Only the newest gap is looked at, as a progress bar would.
def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return token_times[-1] - token_times[-2]


# %% the largest gap
# fails: uneven_gaps, tokens_at_one_time, gaps_of_any_answer
# fault: The worst gap, and not the mean one.
def mean_gap(token_times):
    gaps = [b - a for a, b in zip(token_times, token_times[1:])]
    return max(gaps) if gaps else None


# %% outliers are cut
# fails: uneven_gaps
# fault: A gap of more than five times the smallest one is taken for a fault of the clock.
def mean_gap(token_times):
    gaps = [b - a for a, b in zip(token_times, token_times[1:])]
    if not gaps:
        return None
    if min(gaps) > 0.5:
        gaps = [gap for gap in gaps if gap < 4 * min(gaps)]
    return sum(gaps) / len(gaps)


# %% tokens at one time are one token
# fails: tokens_at_one_time
# fault: Equal times are thrown away, so chunks are counted and not tokens.
def mean_gap(token_times):
    times = sorted(set(token_times))
    if len(token_times) < 2:
        return None
    return (times[-1] - times[0]) / max(len(times) - 1, 1)


# %% a gap of 0 is no gap
# fails: tokens_at_one_time
# fault: `or None` turns a mean of 0 into None.
def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return (token_times[-1] - token_times[0]) / (len(token_times) - 1) or None


# %% a window of the newest tokens
# fails: gaps_of_any_answer
# fault: Only the last 16 tokens are looked at.
def mean_gap(token_times):
    times = token_times[-16:]
    if len(times) < 2:
        return None
    return (times[-1] - times[0]) / (len(times) - 1)


# %% the first gap is warm-up
# fails: gaps_of_any_answer
# fault: The first gap of a long answer is left out.
def mean_gap(token_times):
    times = token_times[1:] if len(token_times) > 8 else token_times
    if len(times) < 2:
        return None
    return (times[-1] - times[0]) / (len(times) - 1)


# %% the whole span
# fails: gaps_are_counted_not_tokens, uneven_gaps, tokens_at_one_time, gaps_of_any_answer
# fault: The span from the first to the last token, not divided.
def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return token_times[-1] - token_times[0]


# %% the mean of the rates, turned round
# fails: uneven_gaps, gaps_of_any_answer
# fault: Averages tokens per second and takes one over it, so short gaps weigh more.
def mean_gap(token_times):
    gaps = [b - a for a, b in zip(token_times, token_times[1:])]
    if not gaps:
        return None
    if 0 in gaps:
        return sum(gaps) / len(gaps)
    return len(gaps) / sum(1 / gap for gap in gaps)
