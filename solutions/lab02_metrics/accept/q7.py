# %% infinity for the missing
def percentile(values, percent):
    check_number("percent", percent, 0, 100, low_open=True)
    if not values:
        return None
    ordered = sorted(math.inf if value is None else value for value in values)
    found = ordered[math.ceil(percent * len(ordered) / 100) - 1]
    return None if found == math.inf else found


# %% counts for each candidate
def percentile(values, percent):
    if percent <= 0 or percent > 100:
        raise ValueError("percent must be in (0, 100]")
    known = [value for value in values if value is not None]
    for candidate in sorted(known):
        below = sum(value <= candidate for value in known)
        if below * 100 >= percent * len(values):
            return candidate
    return None


# %% walks the queue, missing ones last
def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    queue = sorted(values, key=lambda value: (value is None, 0 if value is None else value))
    needed = percent * len(queue)
    for place, value in enumerate(queue, start=1):
        if place * 100 >= needed:
            return value
    return None


# %% asks forgiveness
def percentile(values, percent):
    if not 0 < percent <= 100:
        raise ValueError(percent)
    rank = -(-percent * len(values) // 100)
    try:
        return sorted(v for v in values if v is not None)[int(rank) - 1] if rank else None
    except IndexError:
        return None


# %% nsmallest
import heapq


def percentile(values, percent):
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    rank = math.ceil(len(values) * percent / 100)
    smallest = heapq.nsmallest(rank, (v for v in values if v is not None))
    return smallest[-1] if rank and len(smallest) == rank else None
