# %% takes what is not there
# fails: the_reader_takes_what_is_there
# fault: It lets the reader take more than waits.
def tick(level, drain, capacity, has_more):
    consumed = drain
    has_room = capacity is None or level - consumed < capacity
    return consumed, int(has_more and has_room)


# %% one place too many
# fails: full_means_no_production
# fault: It compares with <=, so one token more than the capacity waits.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = capacity is None or (level - consumed < capacity or (level == capacity and not drain))
    return consumed, int(has_more and has_room)


# %% the producer comes first
# fails: the_reader_comes_first
# fault: It looks at the level before the reader has taken.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = capacity is None or level < capacity
    return consumed, int(has_more and has_room)


# %% None is zero
# fails: none_is_no_bound
# fault: It treats a missing bound as a capacity of 0.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = level - consumed < (capacity or 0)
    return consumed, int(has_more and has_room)


# %% makes tokens for ever
# fails: nothing_left_to_make, the_reader_takes_what_is_there
# fault: It makes a token also when the answer is complete.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = capacity is None or level - consumed < capacity
    return consumed, int(has_room)


# %% an unbounded answer never ends
# fails: nothing_left_to_make
# fault: Without a bound it does not ask whether a token is left.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = capacity is None or level - consumed < capacity
    return consumed, int((has_more and has_room) or (capacity is None and not has_more))


# %% fills all the room at once
# fails: the_reader_takes_what_is_there, none_is_no_bound, one_token_a_tick
# fault: It makes as many tokens as there is room for.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    if not has_more:
        return consumed, 0
    return consumed, 2 if capacity is None else max(0, capacity - level + consumed)


# %% makes two when there is much room
# fails: one_token_a_tick
# fault: With plenty of room it makes two tokens.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    has_room = capacity is None or level - consumed < capacity
    return consumed, int(has_more and has_room) + int(bool(capacity) and has_more and capacity - level > 3)
