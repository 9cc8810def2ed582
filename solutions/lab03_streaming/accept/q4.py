# %% from the stops to the text
def held_length(text, stops):
    longest = 0
    for stop in stops:
        for length in range(1, len(stop)):
            if text.endswith(stop[:length]):
                longest = max(longest, length)
    return longest


# %% a set of all beginnings
def held_length(text, stops):
    beginnings = {stop[:length] for stop in stops for length in range(1, len(stop))}
    return max((len(text) - at for at in range(len(text)) if text[at:] in beginnings), default=0)


# %% counts down from the longest
def held_length(text, stops):
    length = min(len(text), max([len(stop) for stop in stops] or [0]) - 1)
    while length > 0:
        if any(len(stop) > length and stop[:length] == text[-length:] for stop in stops):
            return length
        length -= 1
    return 0
