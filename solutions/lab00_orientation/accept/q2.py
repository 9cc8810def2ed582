# %% one loop
def mean(values):
    total, count = 0.0, 0
    for value in values:
        if value is not None:
            total += value
            count += 1
    return (total / count, count) if count else (None, 0)


# %% the standard library
import statistics


def mean(values):
    known = list(filter(lambda value: value is not None, values))
    try:
        return [statistics.fmean(known), len(known)]
    except statistics.StatisticsError:
        return [None, 0]
