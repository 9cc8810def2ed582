# %% rounded down
# fails: nearest_rank
# fault: The rank is rounded down, so fewer than that many percent are below.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.floor(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% rounded to the nearest
# fails: nearest_rank
# fault: The rank is rounded, and not rounded up.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = max(1, round(percent * len(values) / 100))
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% one place too far
# fails: nearest_rank, all_of_them, order_means_nothing, the_missing_are_the_worst, percentile_of_any_values
# fault: The rank is used as an index.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank] if rank < len(known) else None


# %% 100 % is None
# fails: all_of_them
# fault: The last place is thought to lie outside.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) and percent < 100 else None


# %% not sorted
# fails: order_means_nothing
# fault: Takes the values in the order in which they came.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = [value for value in values if value is not None]
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% sorted as text
# fails: order_means_nothing, percentile_of_any_values
# fault: 10 stands before 2 and 9.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted((value for value in values if value is not None), key=str)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% of the measured only
# fails: the_missing_are_the_worst, too_few_were_measured
# fault: The rank is taken among the survivors.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(known) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% of the measured, if there are enough
# fails: the_missing_are_the_worst
# fault: None when too few were measured; otherwise the rank among the survivors.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[math.ceil(percent * len(known) / 100) - 1] if 0 < rank <= len(known) else None


# %% missing counts as 0
# fails: the_missing_are_the_worst, too_few_were_measured
# fault: Who was never measured is the fastest of all.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value or 0.0 for value in values)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% the largest one when there are too few
# fails: too_few_were_measured
# fault: Gives the worst measured value for those who were not measured.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[min(rank, len(known)) - 1] if known and rank else None


# %% an empty list raises
# fails: too_few_were_measured
# fault: The last item of an empty list is looked at.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if rank <= len(known) and (values or known[0]) else None


# %% infinity for the missing
# fails: too_few_were_measured
# fault: The answer is a number that no clock ever showed.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return (known[rank - 1] if 0 < rank <= len(known) else math.inf) if values else None


# %% any percent
# fails: percent_has_a_range
# fault: 0 % and 100.5 % are taken.
def percentile(values, percent):
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% 0 % is allowed
# fails: percent_has_a_range
# fault: The lower end is taken as well.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% equal values are one
# fails: percentile_of_any_values
# fault: A set loses the ones that waited equally long.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted({value for value in values if value is not None})
    rank = math.ceil(percent * len(values) / 100)
    return (
        known[rank - 1]
        if 0 < rank <= len(known)
        else (known[-1] if known and rank <= sum(v is not None for v in values) else None)
    )


# %% a value of 0 is missing
# fails: percentile_of_any_values
# fault: `if value` is false for 0.0 too.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% divided first
# fails: percentile_of_any_values
# fault: percent / 100 is no exact number, and rounding up makes it one place too many.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent / 100 * len(values))
    return known[rank - 1] if 0 < rank <= len(known) else None


# %% interpolated
# fails: nearest_rank, order_means_nothing, the_missing_are_the_worst, percentile_of_any_values
# fault: Gives a value between two measured ones, which nobody has seen.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    place = percent / 100 * (len(values) - 1)
    low = int(place)
    if not known or place > len(known) - 1:
        return None
    high = min(low + 1, len(known) - 1)
    return known[low] + (known[high] - known[low]) * (place - low)


# %% percent as a share
# fails: nearest_rank, all_of_them, order_means_nothing, the_missing_are_the_worst, percentile_of_any_values
# fault: Takes 0.95 for 95 %.
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values))
    return known[rank - 1] if 0 < rank <= len(known) else None
