# %% joins the tokens again for each of them
def answer_length(pieces, stops, min_tokens, find):
    for count in range(min_tokens + 1, len(pieces) + 1):
        before = "".join(pieces[: count - 1])
        if find("".join(pieces[:count]), stops, len(before)):
            return count
    return len(pieces)


# %% finds the end once, then looks which token it is in
from itertools import accumulate


def answer_length(pieces, stops, min_tokens, find):
    ends = list(accumulate(map(len, pieces)))
    early = ends[min_tokens - 1] if 0 < min_tokens <= len(pieces) else 0
    if min_tokens >= len(pieces):
        return len(pieces)
    found = find("".join(pieces), stops, early)
    if found is None:
        return len(pieces)
    return 1 + next(index for index, end in enumerate(ends) if end >= found[1])


# %% takes tokens from the front
def answer_length(pieces, stops, min_tokens, find):
    rest, text, kept = list(pieces), "", []
    while rest:
        piece = rest.pop(0)
        kept.append(piece)
        found = find(text + piece, stops, len(text))
        text += piece
        if found is not None and len(kept) > min_tokens:
            break
    return len(kept)


# %% by recursion
def answer_length(pieces, stops, min_tokens, find):
    def walk(count, text):
        if count == len(pieces):
            return count
        longer = text + pieces[count]
        if count >= min_tokens and find(longer, stops, len(text)) is not None:
            return count + 1
        return walk(count + 1, longer)

    return walk(0, "")


# %% looks for the stops itself
def answer_length(pieces, stops, min_tokens, find):
    """Token by token, without the find that it was given."""
    for count in range(min_tokens + 1, len(pieces) + 1):
        before, text = "".join(pieces[: count - 1]), "".join(pieces[:count])
        for end in range(len(before) + 1, len(text) + 1):
            if any(s and text[:end].endswith(s) for s in stops):
                return count
    return len(pieces)
