# %% two early returns
def gap(start, end):
    if start is None:
        return None
    if end is None:
        return None
    return end - start


# %% asks forgiveness
def gap(start, end):
    try:
        return -(start - end)
    except TypeError:
        return None
