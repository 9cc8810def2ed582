# %% own blocks are copied too
# fails: only_what_others_hold
# fault: One reference is taken for shared.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 0]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% shared by three or more
# fails: only_what_others_hold, only_what_the_write_touches
# fault: A block with two holders is not seen as shared.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 2]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% ids instead of places
# fails: only_what_others_hold, only_what_the_write_touches
# fault: Gives the block ids, not their places in the table.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [block_table[place] + 10 for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% the whole table before the write
# fails: only_what_the_write_touches, only_what_others_hold, nothing_to_copy_behind_the_table
# fault: Starts at place 0, so a prefix that is only read is copied.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(0, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% the block after the write too
# fails: only_what_the_write_touches
# fault: The end is taken for a written position.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(end // size + 1, len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% only the first block of the write
# fails: only_what_the_write_touches
# fault: A write over a block boundary touches two blocks.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(start // size + 1, len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% looks behind the table
# fails: nothing_to_copy_behind_the_table
# fault: An IndexError where the table ends before the write does.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, -(-end // size))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% destination before source
# fails: a_shared_block_is_copied_first
# fault: The pair is turned round: the old contents are overwritten.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((blocks[0], table[place]))
        table[place] = blocks.pop(0)
    pool.free([block_table[place] for place in places])
    return table + blocks, copies


# %% the copy is put at the end
# fails: a_shared_block_is_copied_first, each_copy_at_its_own_place
# fault: The fresh block is appended, and the shared one stays in its place.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table.append(blocks.pop(0))
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% nothing is copied
# fails: a_shared_block_is_copied_first, each_copy_at_its_own_place
# fault: The fresh block has no contents, because nobody is told to copy.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, []


# %% the place is counted from the write
# fails: a_shared_block_is_copied_first, the_original_loses_a_reference, each_copy_at_its_own_place
# fault: The fresh block goes to the first places of the table.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place - start // size], blocks[0]))
        table[place - start // size] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% all touched blocks lose a reference
# fails: own_blocks_are_written_in_place, missing_blocks_are_added
# fault: One's own block is freed as if it had been copied.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([block_table[p] for p in range(start // size, min(-(-end // size), len(block_table)))])
    return table + blocks, copies


# %% the original is kept
# fails: the_original_loses_a_reference
# fault: Our reference to the shared block is never dropped: a leak.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    return table + blocks, copies


# %% the fresh block is given back
# fails: the_original_loses_a_reference
# fault: The wrong half of the pair loses its reference.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([fresh for _, fresh in copies])
    return table + blocks, copies


# %% always a fresh block
# fails: own_blocks_are_written_in_place, missing_blocks_are_added
# fault: Blocks of one's own are replaced and copied as well.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [p for p in range(start // size, min(-(-end // size), len(table)))]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% a fresh block for one token
# fails: own_blocks_are_written_in_place
# fault: A write of one token into the last block takes a fresh block, also when it is one's own.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p
        for p in range(start // size, min(-(-end // size), len(table)))
        if pool.references(table[p]) > 1 or p == len(table) - 1 and end - start < 2
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% a spare block for every write
# fails: own_blocks_are_written_in_place, missing_blocks_are_added, the_original_loses_a_reference, a_shared_block_is_copied_first
# fault: One more block than needed is taken each time.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table)) + 1
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% a block ahead of a full one
# fails: missing_blocks_are_added
# fault: When the write ends with a block, one more is added.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = (
        max(0, end // size + 1 - len(table))
        if end % size or end == 4 * len(table)
        else max(0, -(-end // size) - len(table))
    )
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% never more than one new block
# fails: missing_blocks_are_added
# fault: A long write gets only one block.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = min(1, max(0, -(-end // size) - len(table)))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% first the copies, then the rest
# fails: a_write_is_prepared_all_or_nothing
# fault: Two calls of allocate: when the second one fails, the first has taken its block.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places))
    blocks += pool.allocate(missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% gives up its share first
# fails: a_write_is_prepared_all_or_nothing
# fault: References are dropped before the pool was asked; on a refusal they are gone.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    pool.free([table[place] for place in places])
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    return table + blocks, copies


# %% a lack of blocks is swallowed
# fails: a_write_is_prepared_all_or_nothing
# fault: The caller goes on with the old table and writes into a shared block.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    try:
        blocks = pool.allocate(len(places) + missing)
    except MemoryError:
        return table, []
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% two ends of one list
# fails: each_copy_at_its_own_place
# fault: The pair names the first fresh block, the table gets the last one.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    if len(places) > 1:
        first, last = places[0], places[-1]
        table[first], table[last] = table[last], table[first]
    pool.free([source for source, _ in copies])
    return table + blocks, copies


# %% only one copy
# fails: each_copy_at_its_own_place
# fault: The first shared block is replaced, the others stay shared.
def shared_writes(pool, block_table, start, end):
    size = pool.block_size
    touched = range(start // size, min(-(-end // size), len(block_table)))
    return [place for place in touched if pool.references(block_table[place]) > 1]


def prepare_write(pool, block_table, start, end):
    size = pool.block_size
    table, copies = list(block_table), []
    places = [
        p for p in range(start // size, min(-(-end // size), len(table))) if pool.references(table[p]) > 1
    ]
    places = places[:1]
    missing = max(0, -(-end // size) - len(table))
    blocks = pool.allocate(len(places) + missing)
    for place in places:
        copies.append((table[place], blocks[0]))
        table[place] = blocks.pop(0)
    pool.free([source for source, _ in copies])
    return table + blocks, copies
