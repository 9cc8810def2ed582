# %% every block is named
# fails: right_books_have_no_faults
# fault: Blocks without a fault stand in the answer with 0.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        faults[block] = excess
    return faults


# %% lost blocks are not looked for
# fails: a_lost_block_is_found, two_faults_do_not_cancel
# fault: Only a block in too many places is seen.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess < 0:
            continue
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% a lost block is a small matter
# fails: a_lost_block_is_found
# fault: Lost blocks are reported only when other books are wrong as well.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    if faults and set(faults.values()) == {-1} and all(references[block] == 0 for block in faults):
        return {}
    return faults


# %% the free list beats the count
# fails: held_and_free_at_once, two_faults_do_not_cancel, the_place_comes_first, a_holder_without_a_reference
# fault: A block in the free list is never asked for its references.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = (places[block] or (count > 0)) - 1
        if excess == 0:
            excess = 0 if places[block] else holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% the last block that is free and held
# fails: held_and_free_at_once
# fault: Only one block with two places is reported.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    both = [block for block in faults if places[block] and references[block]]
    for block in both[:-1]:
        del faults[block]
    return faults


# %% the free list is a set
# fails: twice_in_the_free_list
# fault: A block that stands there twice counts once.
def audit_blocks(free, references, tables):
    places = Counter(set(free))
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% twice is twice
# fails: twice_in_the_free_list
# fault: Reports that a block stands in the free list too often, and not how often.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = min(excess, 1) if places[block] > 1 else excess
    return faults


# %% leaks are not looked for
# fails: a_reference_without_a_holder
# fault: Only missing references are compared.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = max(0, holders[block] - count)
        if excess != 0:
            faults[block] = excess
    return faults


# %% a leak has no size
# fails: a_reference_without_a_holder
# fault: The number says only that something is wrong.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = max(-1, holders[block] - count)
        if excess != 0:
            faults[block] = excess
    return faults


# %% missing references are not looked for
# fails: a_holder_without_a_reference
# fault: Only leaks are compared.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = min(0, holders[block] - count)
        if excess != 0:
            faults[block] = excess
    return faults


# %% free blocks have no holders
# fails: a_holder_without_a_reference
# fault: A block in the free list is right whoever names it.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = 0 if places[block] else holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% the sign is turned round
# fails: a_reference_without_a_holder, a_holder_without_a_reference
# fault: References minus holders: the number points to the wrong fault.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = count - holders[block]
        if excess != 0:
            faults[block] = excess
    return faults


# %% the total is right, so all is right
# fails: two_faults_do_not_cancel
# fault: Places are looked at only when the sum of all is wrong.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = (
            0
            if len(free) + sum(c > 0 for c in references) == len(references)
            else places[block] + (count > 0) - 1
        )
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% both numbers are added
# fails: the_place_comes_first
# fault: Place and count are mixed into one number.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        excess += holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% the count comes first
# fails: the_place_comes_first
# fault: A wrong count hides a wrong place.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = holders[block] - count
        if excess == 0 or count == 0:
            excess = places[block] + (count > 0) - 1 or excess
        if excess != 0:
            faults[block] = excess
    return faults


# %% a table holds a block once
# fails: every_mention_is_a_holder
# fault: Each table is made a set.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in set(table))
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    return faults


# %% three holders are too many
# fails: no_false_alarm
# fault: A block that three or more share raises an alarm.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if len(tables) > 2 and count > 2:
            excess = excess or 1
        if excess != 0:
            faults[block] = excess
    return faults


# %% sorted free lists only
# fails: no_false_alarm
# fault: Expects the free ids in rising order.
def audit_blocks(free, references, tables):
    places = Counter(free)
    holders = Counter(block for table in tables for block in table)
    faults = {}
    for block, count in enumerate(references):
        excess = places[block] + (count > 0) - 1
        if excess == 0:
            excess = holders[block] - count
        if excess != 0:
            faults[block] = excess
    if len(free) > 2 and list(free) != sorted(free) and not faults:
        return {free[0]: 1}
    return faults
