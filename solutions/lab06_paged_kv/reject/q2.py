# %% position 0 is left out
# fails: positions_count_from_zero
# fault: The first position is taken for a special one.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(max(start, 1), end)]


# %% the table is sorted
# fails: blocks_come_from_the_table, positions_count_from_zero
# fault: The order of the table is the order of the positions; sorted, it says nothing.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    block_table = sorted(block_table)
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% the pool is one line
# fails: blocks_come_from_the_table, the_last_slot_is_inside, slots_of_any_block_size
# fault: Counts on from the first block instead of looking into the table.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [] if start == end else [block_table[0] * block_size + p for p in range(start, end)]


# %% offset is the position
# fails: blocks_come_from_the_table, the_last_slot_is_inside, slots_of_any_block_size
# fault: The position is added to the block as it is.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [block_table[p // block_size] * block_size + p for p in range(start, end)]


# %% blocks are used from the end
# fails: blocks_come_from_the_table, positions_count_from_zero, the_last_slot_is_inside, slots_of_any_block_size
# fault: The table is read backwards.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    table = list(block_table)[::-1]
    return [table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% block id plus offset
# fails: positions_count_from_zero, blocks_come_from_the_table, the_last_slot_is_inside, slots_of_any_block_size
# fault: The block id is taken for its first slot.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [block_table[p // block_size] + p % block_size for p in range(start, end)]


# %% one block for the whole write
# fails: blocks_come_from_the_table, the_last_slot_is_inside, slots_of_any_block_size
# fault: The block is looked up once, for the first position.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    if start == end:
        return []
    block = block_table[start // block_size]
    return [block * block_size + p % block_size for p in range(start, end)]


# %% blocks take turns
# fails: positions_count_from_zero, blocks_come_from_the_table, the_last_slot_is_inside, slots_of_any_block_size
# fault: Neighbouring positions go to different blocks.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    count = len(block_table)
    return [block_table[p % count] * block_size + p // count for p in range(start, end)]


# %% nothing instead of a refusal
# fails: positions_behind_the_table_refused, negative_positions_refused
# fault: An empty list: the caller believes that there was nothing to write.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        return []
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% the wrong exception
# fails: positions_behind_the_table_refused, negative_positions_refused
# fault: A ValueError is not what the contract promises to callers.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise ValueError("outside")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% the end is included
# fails: positions_count_from_zero, blocks_come_from_the_table, an_empty_range_has_no_slots, slots_of_any_block_size, the_last_slot_is_inside
# fault: One slot too many at the end.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end + 1)]


# %% at least one slot
# fails: an_empty_range_has_no_slots
# fault: An empty range gives the slot of its start.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [
        block_table[p // block_size] * block_size + p % block_size for p in range(start, max(end, start + 1))
    ]


# %% empty ranges are refused
# fails: an_empty_range_has_no_slots
# fault: Nothing to write is taken for a fault.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    if start == end:
        raise IntegrityError("no positions")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% behind the table it raises what Python raises
# fails: positions_behind_the_table_refused
# fault: An IndexError leaves the function; no caller expects it.
def slot_mapping(block_table, start, end, block_size):
    if start < 0:
        raise IntegrityError("negative")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% the range is cut at the table
# fails: positions_behind_the_table_refused
# fault: Positions without a slot are silently dropped.
def slot_mapping(block_table, start, end, block_size):
    if start < 0:
        raise IntegrityError("negative")
    end = min(end, len(block_table) * block_size)
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% behind the table it begins again
# fails: positions_behind_the_table_refused
# fault: The table is used as a ring; an old token is overwritten.
def slot_mapping(block_table, start, end, block_size):
    if start < 0:
        raise IntegrityError("negative")
    count = len(block_table)
    if count == 0 and end > start:
        raise IntegrityError("no table")
    return [block_table[p // block_size % count] * block_size + p % block_size for p in range(start, end)]


# %% negative positions count from the end
# fails: negative_positions_refused
# fault: Position -1 becomes the last slot of the last block.
def slot_mapping(block_table, start, end, block_size):
    if end > len(block_table) * block_size:
        raise IntegrityError("behind")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% negative positions are left out
# fails: negative_positions_refused
# fault: The range is cut at 0 and the caller never hears of it.
def slot_mapping(block_table, start, end, block_size):
    if end > len(block_table) * block_size:
        raise IntegrityError("behind")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(max(start, 0), end)]


# %% the last slot is refused
# fails: the_last_slot_is_inside
# fault: The end of the range is compared as if it were a position.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > start and end >= len(block_table) * block_size:
        raise IntegrityError("outside")
    return [block_table[p // block_size] * block_size + p % block_size for p in range(start, end)]


# %% masks instead of a remainder
# fails: slots_of_any_block_size
# fault: Right only for powers of two.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return [block_table[p // block_size] * block_size + (p & (block_size - 1)) for p in range(start, end)]


# %% a set loses the order
# fails: blocks_come_from_the_table
# fault: Slots are sorted, so they no longer belong to their positions.
def slot_mapping(block_table, start, end, block_size):
    if start < 0 or end > len(block_table) * block_size:
        raise IntegrityError("outside the table")
    return sorted({block_table[p // block_size] * block_size + p % block_size for p in range(start, end)})
