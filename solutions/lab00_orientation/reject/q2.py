# %% whole numbers only
# fails: mean_and_count
# fault: Floor division cuts the mean down to a whole number.
def mean(values):
    known = [value for value in values if value is not None]
    return (sum(known) // len(known) if known else None), len(known)


# %% the mean alone
# fails: mean_and_count, missing_values_left_out, nothing_to_average, zero_counts
# fault: The count is not returned.
def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


# %% divided by all
# fails: missing_values_left_out
# fault: The sum of the known values is divided by the number of all values.
def mean(values):
    known = [value for value in values if value is not None]
    return (sum(known) / len(values) if known else None), len(known)


# %% missing counts as 0
# fails: missing_values_left_out, nothing_to_average
# fault: A missing value is averaged as 0.
def mean(values):
    known = [value or 0.0 for value in values]
    return (sum(known) / len(known) if known else None), len(known)


# %% nothing is an error
# fails: nothing_to_average
# fault: An empty list raises ZeroDivisionError.
def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known), len(known)


# %% nothing is 0
# fails: nothing_to_average
# fault: The mean of nothing is given as 0.
def mean(values):
    known = [value for value in values if value is not None]
    return (sum(known) / len(known) if known else 0.0), len(known)


# %% 0 is left out
# fails: zero_counts
# fault: "if value" drops the zeros together with the missing values.
def mean(values):
    known = [value for value in values if value]
    return (sum(known) / len(known) if known else None), len(known)
