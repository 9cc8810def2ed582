# %% sum of the gaps
def mean_gap(token_times):
    gaps = [after - before for before, after in zip(token_times, token_times[1:])]
    return sum(gaps) / len(gaps) if gaps else None


# %% asks forgiveness for the division
def mean_gap(token_times):
    count = len(token_times) - 1
    try:
        return (max(token_times) - min(token_times)) / count
    except (ZeroDivisionError, ValueError):
        return None


# %% the statistics module
import statistics
from itertools import pairwise


def mean_gap(token_times):
    if len(token_times) <= 1:
        return None
    return statistics.fmean(b - a for a, b in pairwise(token_times))


# %% a running mean
def mean_gap(token_times):
    average, seen, last = None, 0, None
    for at in token_times:
        if last is not None:
            seen += 1
            average = (at - last) if average is None else average + ((at - last) - average) / seen
        last = at
    return average


# %% numpy
import numpy as np


def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return float(np.diff(np.array(token_times)).mean())


# %% numpy without float
import numpy as np


def mean_gap(token_times):
    if len(token_times) < 2:
        return None
    return np.mean(np.diff(token_times))
