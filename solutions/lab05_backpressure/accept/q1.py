# %% branches
def tick(level, drain, capacity, has_more):
    consumed = drain if drain < level else level
    if not has_more:
        return consumed, 0
    if capacity is None:
        return consumed, 1
    return (consumed, 1) if level - consumed + 1 <= capacity else (consumed, 0)


# %% an infinite capacity
def tick(level, drain, capacity, has_more):
    bound = float("inf") if capacity is None else capacity
    left = max(0, level - drain)
    return [level - left, 1 if has_more and left < bound else 0]


# %% counts down
def tick(level, drain, capacity, has_more):
    consumed = 0
    while consumed < drain and consumed < level:
        consumed += 1
    produced = sum(
        1 for _ in range(1) if has_more and not (capacity is not None and level - consumed >= capacity)
    )
    return consumed, produced


# %% a list that is really filled and emptied
def tick(level, drain, capacity, has_more):
    queue = list(range(level))
    taken = 0
    while queue and taken < drain:
        queue.pop(0)
        taken += 1
    if not has_more:
        return taken, 0
    if capacity is not None and len(queue) >= capacity:
        return taken, 0
    return taken, 1


# %% no bound is an infinite one
def tick(level, drain, capacity, has_more):
    bound = float("inf") if capacity is None else capacity
    rest = max(level - drain, 0)
    return level - rest, 1 if has_more and bound - rest >= 1 else 0
