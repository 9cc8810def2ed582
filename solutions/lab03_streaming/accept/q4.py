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


# %% borders of Knuth, Morris and Pratt
def _borders(s):
    table, k = [0] * len(s), 0
    for i in range(1, len(s)):
        while k and s[i] != s[k]:
            k = table[k - 1]
        k += s[i] == s[k]
        table[i] = k
    return table


def held_length(text, stops):
    best = 0
    for s in stops:
        table, k = _borders(s), 0
        for c in text:
            while k and c != s[k]:
                k = table[k - 1]
            k += c == s[k]
            if k == len(s):
                k = table[k - 1]
        best = max(best, k)
    return best
