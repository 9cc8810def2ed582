# %% takes what nobody needs any more
def release_order(depends):
    left = {name: set(needed) for name, needed in depends.items()}
    order = []
    while left:
        free = [name for name in left if not any(name in needed for needed in left.values())]
        if not free:
            raise ValueError(f"a circle among {sorted(left)}")
        for name in free:
            order.append(name)
            del left[name]
    return order


def leave(owner, owners, depends):
    freed, after = [], {}
    for name in release_order(depends):
        who = [one for one in owners.get(name, []) if one != owner]
        if owner in owners.get(name, []) and not who:
            freed.append(name)
        elif name in owners:
            after[name] = who
    return freed, after


# %% depth first, with marks
def release_order(depends):
    state, done = {}, []

    def visit(name):
        if state.get(name) == "open":
            raise ValueError(f"{name} waits for itself")
        if name in state:
            return
        state[name] = "open"
        for other in depends.get(name, ()):
            visit(other)
        state[name] = "closed"
        done.insert(0, name)

    for name in depends:
        visit(name)
    return done


def leave(owner, owners, depends):
    mine = [name for name in release_order(depends) if owner in owners.get(name, ())]
    freed = tuple(name for name in mine if set(owners[name]) == {owner})
    rest = {name: [one for one in who if one != owner] for name, who in owners.items() if name not in freed}
    return freed, rest


# %% counts who still needs it
from collections import Counter


def release_order(depends):
    needed = Counter(other for others in depends.values() for other in others)
    ready = [name for name in depends if needed[name] == 0]
    order = []
    while ready:
        name = ready.pop()
        order.append(name)
        for other in depends[name]:
            needed[other] -= 1
            if needed[other] == 0:
                ready.append(other)
    if len(order) != len(depends):
        raise ValueError("some resources wait for each other")
    return order


def leave(owner, owners, depends):
    after = {name: list(who) for name, who in owners.items()}
    freed = []
    for name in release_order(depends):
        if owner in after.get(name, []):
            after[name].remove(owner)
            if not after[name]:
                freed.append(name)
                del after[name]
    return freed, after
