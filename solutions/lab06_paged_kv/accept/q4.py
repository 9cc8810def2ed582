# %% place by place
def shared_writes(pool, block_table, start, end):
    places = []
    for place, block in enumerate(block_table):
        first = place * pool.block_size
        touched = start < first + pool.block_size and end > first
        if touched and pool.references(block) >= 2:
            places.append(place)
    return places


def prepare_write(pool, block_table, start, end):
    places = shared_writes(pool, block_table, start, end)
    needed = (end + pool.block_size - 1) // pool.block_size
    missing = needed - len(block_table) if needed > len(block_table) else 0
    fresh = iter(pool.allocate(len(places) + missing))
    new = {place: next(fresh) for place in places}
    copies = [(block_table[place], block) for place, block in new.items()]
    for source, _ in copies:
        pool.free([source])
    return [new.get(place, block) for place, block in enumerate(block_table)] + list(fresh), copies


# %% a set of touched places
def shared_writes(pool, block_table, start, end):
    touched = {position // pool.block_size for position in range(start, end)}
    return sorted(p for p in touched if p < len(block_table) and pool.references(block_table[p]) != 1)


def prepare_write(pool, block_table, start, end):
    touched = {position // pool.block_size for position in range(start, end)}
    shared = shared_writes(pool, block_table, start, end)
    behind = [p for p in range(len(block_table), max(touched) + 1)]
    blocks = pool.allocate(len(shared) + len(behind))
    table = [*block_table, *blocks[len(shared) :]]
    copies = []
    for place, block in zip(shared, blocks):
        copies.append([table[place], block])
        table[place] = block
    if copies:
        pool.free([pair[0] for pair in copies])
    return table, copies


# %% stands alone, the copies in falling order
def shared_writes(pool, block_table, start, end):
    last = min((end - 1) // pool.block_size, len(block_table) - 1)
    return [p for p in range(start // pool.block_size, last + 1) if pool.references(block_table[p]) > 1]


def prepare_write(pool, block_table, start, end):
    size, table, copies = pool.block_size, list(block_table), []
    replace = [
        p
        for p in range(len(table))
        if p >= start // size and p * size < end and pool.references(table[p]) > 1
    ]
    missing = 0
    while (len(table) + missing) * size < end:
        missing += 1
    blocks = pool.allocate(len(replace) + missing)
    for place in reversed(replace):
        copies.append((table[place], blocks[-1]))
        table[place] = blocks.pop()
    pool.free(source for source, _ in copies)
    table.extend(blocks)
    return table, tuple(copies)


# %% two requests to the pool, and a way back
def shared_writes(pool, block_table, start, end):
    places = []
    position = start
    while position < end:
        place = position // pool.block_size
        if place == len(block_table):
            break
        if place > len(block_table):
            break
        if pool.references(block_table[place]) > 1:
            places.append(place)
        position = (place + 1) * pool.block_size
    return places


def prepare_write(pool, block_table, start, end):
    places = shared_writes(pool, block_table, start, end)
    fresh = pool.allocate(len(places))
    try:
        more = pool.allocate(max(0, (end - 1) // pool.block_size + 1 - len(block_table)))
    except Exception:
        pool.free(fresh)
        raise
    copies = []
    for place, block in zip(places, fresh):
        copies.append((block_table[place], block))
        block_table[place] = block
    pool.free([old for old, _ in copies])
    block_table.extend(more)
    return block_table, copies
