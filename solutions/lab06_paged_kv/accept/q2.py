# %% divmod in a loop
def slot_mapping(block_table, start, end, block_size):
    if min(start, end) < 0:
        raise IntegrityError("a negative position")
    slots = []
    for position in range(start, end):
        place, offset = divmod(position, block_size)
        if place >= len(block_table):
            raise IntegrityError(f"position {position} is behind the table")
        slots.append(block_table[place] * block_size + offset)
    return slots


# %% all slots of the table, then a slice
def slot_mapping(block_table, start, end, block_size):
    every = []
    for block in block_table:
        first = block * block_size
        every.extend(range(first, first + block_size))
    if not (0 <= start <= end <= len(every)):
        raise IntegrityError("outside the table")
    return every[start:end]


# %% block by block
def slot_mapping(block_table, start, end, block_size):
    if start < 0:
        raise IntegrityError("before the table")
    if end > block_size * len(block_table):
        raise IntegrityError("behind the table")
    slots = ()
    while start < end:
        place = start // block_size
        stop = min(end, (place + 1) * block_size)
        shift = (block_table[place] - place) * block_size
        slots += tuple(range(start + shift, stop + shift))
        start = stop
    return slots


# %% a dict from position to slot
def slot_mapping(block_table, start, end, block_size):
    slot_of = {
        place * block_size + offset: block * block_size + offset
        for place, block in enumerate(block_table)
        for offset in range(block_size)
    }
    try:
        return [slot_of[position] for position in range(start, end)]
    except KeyError as error:
        raise IntegrityError(f"no slot for position {error}") from None
