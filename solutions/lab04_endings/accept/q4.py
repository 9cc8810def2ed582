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
    after = {name: [one for one in who if one != owner] for name, who in owners.items()}
    freed = []
    while True:
        needed = {other for name in after for other in depends.get(name, ())}
        free = [name for name, who in after.items() if not who and name not in needed]
        if not free:
            return freed, after
        freed.append(free[0])
        del after[free[0]]


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
    books = {name: set(who) - {owner} for name, who in owners.items()}
    stays = set()

    def keep(name):
        if name not in stays:
            stays.add(name)
            for other in depends.get(name, ()):
                keep(other)

    for name, who in books.items():
        if who:
            keep(name)
    named = release_order(depends)
    freed = [name for name in books if name not in named] + [name for name in named if name in books]
    freed = tuple(name for name in freed if name not in stays)
    return freed, {name: [one for one in owners[name] if one != owner] for name in books if name in stays}


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
    for who in after.values():
        if owner in who:
            who.remove(owner)
    freed = []
    users = Counter(other for name in after for other in depends.get(name, ()))
    ready = [name for name in after if not after[name] and users[name] == 0]
    while ready:
        name = ready.pop(0)
        freed.append(name)
        del after[name]
        for other in depends.get(name, ()):
            users[other] -= 1
            if other in after and users[other] == 0 and not after[other]:
                ready.append(other)
    return freed, after


# %% layers from the bottom
def release_order(depends):
    height = {}

    def measure(name, below):
        if name in below:
            raise ValueError("a circle through " + name)
        if name not in height:
            height[name] = 1 + max(
                (measure(other, below | {name}) for other in depends.get(name, [])), default=0
            )
        return height[name]

    for name in depends:
        measure(name, frozenset())
    return sorted(height, key=height.get, reverse=True)


def leave(owner, owners, depends):
    rest = dict(owners)
    for name in rest:
        rest[name] = [one for one in rest[name] if one != owner]
    gone = ()
    for name in release_order(depends | {name: depends.get(name, []) for name in rest}):
        used = [other for other in rest if name in depends.get(other, [])]
        if rest.get(name) == [] and used == []:
            gone += (name,)
            rest.pop(name)
    return gone, rest


# %% the sorter, asked layer by layer
def release_order(depends):
    sorter = TopologicalSorter()
    for name, needed in depends.items():
        sorter.add(name)
        for other in needed:
            sorter.add(other, name)
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(str(error))
    order = []
    while sorter.is_active():
        layer = sorter.get_ready()
        order.extend(sorted(layer))
        sorter.done(*layer)
    return order


def leave(owner, owners, depends):
    everything = {**dict.fromkeys(owners, []), **depends}
    order, freed = release_order(everything), []
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    for name in order:
        if left.get(name, [owner]):
            continue
        if all(name not in everything[other] for other in left):
            freed += [name]
            left = {other: who for other, who in left.items() if other != name}
    return [freed, left]


# %% again until nothing more goes
def release_order(depends):
    names = list(depends) + [d for ds in depends.values() for d in ds]
    left = list(dict.fromkeys(names))
    out = []
    while left:
        free = [n for n in left if not any(n in depends.get(o, ()) for o in left)]
        if not free:
            raise ValueError("circle")
        out.append(free[0])
        left.remove(free[0])
    return out


def leave(owner, owners, depends):
    rest = {k: [o for o in v if o != owner] for k, v in owners.items()}
    gone = set()
    again = True
    while again:
        again = False
        for n in list(rest):
            if (
                n not in gone
                and not rest[n]
                and not any(n in depends.get(o, ()) for o in rest if o not in gone)
            ):
                gone.add(n)
                again = True
    order = release_order(depends)
    order += [n for n in rest if n not in order]
    return [n for n in order if n in gone], {k: v for k, v in rest.items() if k not in gone}
