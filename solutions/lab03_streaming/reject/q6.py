# %% without a stop the answer is empty
# fails: all_tokens_without_a_stop
# fault: It returns 0 when no stop comes.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(text, stops, before) is not None:
            return count
    return 0


# %% the stop must end its token
# fails: the_completing_token_is_the_last
# fault: A stop in the middle of a token is not seen.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and any(text.endswith(stop) for stop in stops):
            return count
    return count


# %% the completing token does not count
# fails: the_completing_token_is_the_last, early_stops_do_not_count, a_stop_may_begin_early, tokens_without_text_count, long_stops_in_many_tokens
# fault: The token that completed the stop was generated; it is cut off.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(text, stops, before) is not None:
            return count - 1
    return count


# %% min_tokens is ignored
# fails: early_stops_do_not_count
# fault: A stop counts from the first token on.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if find(text, stops, before) is not None:
            return count
    return count


# %% an early stop counts later
# fails: early_stops_do_not_count
# fault: It searches the whole text each time, so a stop that was passed over ends the answer later.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(text, stops, 0) is not None:
            return count
    return count


# %% the early text is thrown away
# fails: a_stop_may_begin_early
# fault: A stop that began in the first tokens is never completed.
def answer_length(pieces, stops, min_tokens, find):
    text = ""
    for count, piece in enumerate(pieces, 1):
        if count <= min_tokens:
            continue
        before = len(text)
        text += piece
        if find(text, stops, before) is not None:
            return count
    return len(pieces)


# %% one token too many must be early
# fails: a_stop_may_begin_early
# fault: It waits for one token more than min_tokens says.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens + (min_tokens > 0) and find(text, stops, before) is not None:
            return count
    return count


# %% tokens without text are no tokens
# fails: tokens_without_text_count
# fault: A token that adds no text is not counted, though it was computed.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        if not piece:
            continue
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(text, stops, before) is not None:
            return count
    return count


# %% each token alone
# fails: the_completing_token_is_the_last, a_stop_may_begin_early, long_stops_in_many_tokens
# fault: It looks for the stop inside each token, so one that spans tokens is missed.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    for piece in pieces:
        before = len(text)
        text += piece
        count += 1
        if count > min_tokens and find(piece, stops, 0) is not None:
            return count
    return count


# %% only the first stop of the list ends the answer
# fails: the_completing_token_is_the_last, long_stops_in_many_tokens
# fault: The other stops are not looked for.
def answer_length(pieces, stops, min_tokens, find):
    text = ""
    for i, p in enumerate(pieces, 1):
        after = len(text)
        text += p
        if i > min_tokens and find(text, stops[:1], after):
            return i
    return len(pieces)


# %% keeps sixteen characters
# fails: long_stops_in_many_tokens
# fault: A stop that is longer than the kept text is never completed.
def answer_length(pieces, stops, min_tokens, find):
    text = ""
    for i, p in enumerate(pieces, 1):
        text = text[-16:]
        after = len(text)
        text += p
        if i > min_tokens and find(text, stops, after):
            return i
    return len(pieces)


# %% an answer is as long as min_tokens
# fails: all_tokens_without_a_stop
# fault: Fewer tokens than min_tokens have come, and it counts tokens that do not exist.
def answer_length(pieces, stops, min_tokens, find):
    text = ""
    for i, p in enumerate(pieces, 1):
        after = len(text)
        text += p
        if i > min_tokens and find(text, stops, after):
            return i
    return max(len(pieces), min_tokens)


# %% min_tokens counts characters
# fails: early_stops_do_not_count
# fault: The first min_tokens characters are passed over and not the first min_tokens tokens.
def answer_length(pieces, stops, min_tokens, find):
    match = find("".join(pieces), stops, min_tokens)  # counts characters, not tokens
    if match is None:
        return len(pieces)
    total = 0
    for i, p in enumerate(pieces, 1):
        total += len(p)
        if total >= match[1]:
            return i


# %% empties the caller's list
# fails: all_tokens_without_a_stop
# fault: It takes the tokens out of the list: the list belongs to the caller.
def answer_length(pieces, stops, min_tokens, find):
    text, count = "", 0
    while pieces:
        after = len(text)
        text += pieces.pop(0)
        count += 1
        if count > min_tokens and find(text, stops, after):
            return count
    return count
