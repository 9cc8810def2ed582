# %% counts by hand
def audit_blocks(free, references, tables):
    faults = {}
    for block in range(len(references)):
        number = free.count(block) - 1
        if references[block] > 0:
            number += 1
        if not number:
            number = sum(table.count(block) for table in tables) - references[block]
        if number:
            faults[block] = number
    return faults


# %% two passes
def audit_blocks(free, references, tables):
    used = Counter()
    for table in tables:
        used.update(table)
    places = Counter(free)
    places.update(block for block, count in enumerate(references) if count)
    places = {block: places[block] - 1 for block in range(len(references))}
    counts = {block: used[block] - count for block, count in enumerate(references)}
    numbers = {block: places[block] or counts[block] for block in places}
    return {block: number for block, number in numbers.items() if number != 0}


# %% a table of the possible cases
def audit_blocks(free, references, tables):
    mentions = [block for table in tables for block in table]
    faults = dict()
    for block, count in enumerate(references):
        times = free.count(block)
        held = mentions.count(block)
        match (times, count):
            case (0, 0):
                faults[block] = -1
            case (0, _):
                faults[block] = held - count
            case (1, 0):
                faults[block] = held
            case (_, 0):
                faults[block] = times - 1
            case _:
                faults[block] = times
        if faults[block] == 0:
            faults.pop(block)
    return faults


# %% walks over the mentions
def audit_blocks(free, references, tables):
    place = [-1] * len(references)
    left = list(references)
    for block in free:
        place[block] += 1
    for block, count in enumerate(references):
        place[block] += 1 if count else 0
    for table in tables:
        for block in table:
            left[block] -= 1
    result = {}
    for block in range(len(references)):
        if place[block] != 0:
            result[block] = place[block]
        elif left[block] != 0:
            result[block] = -left[block]
    return result
