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


# %% a full queue stays full for this tick
# fails: the_reader_comes_first
# fault: The room is looked at before the reader has taken anything.
def tick(level, drain, capacity, has_more):
    return min(drain, level), int(has_more and (capacity is None or level < capacity))


# %% one more than the bound
# fails: full_means_no_production
# fault: The comparison lets the queue grow to capacity + 1.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    return consumed, int(has_more and (capacity is None or level - consumed <= capacity))


# %% the reader takes a token that is made in this tick
# fails: the_reader_takes_what_is_there
# fault: Production comes first, so an empty queue already gives something.
def tick(level, drain, capacity, has_more):
    produced = int(has_more and (capacity is None or level < capacity or drain > 0))
    return min(drain, level + produced), produced


# %% a complete answer is not read any more
# fails: the_reader_takes_what_is_there
# fault: Nothing is taken when nothing is left to make.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level) if has_more else 0
    return consumed, int(has_more and (capacity is None or level - consumed < capacity))


# %% a capacity of zero is no bound
# fails: full_means_no_production
# fault: Zero is false in Python, so it is taken for None.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    return consumed, int(has_more and (not capacity or level - consumed < capacity))


# %% only a reader makes room
# fails: full_means_no_production, one_token_a_tick
# fault: A tick without a reader never makes a token in a bounded queue that holds some.
def tick(level, drain, capacity, has_more):
    consumed = min(drain, level)
    if capacity is not None and level and not consumed:
        return consumed, 0
    return consumed, int(has_more and (capacity is None or level - consumed < capacity))
