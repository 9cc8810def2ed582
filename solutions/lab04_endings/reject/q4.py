# %% needed things first
# fails: dependents_first, a_diamond, freed_in_order, any_listing
# fault: It takes the order of the sorter as it is.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% three in a chain the wrong way
# fails: dependents_first
# fault: A chain whose last one needs two others comes backwards when it is asked for alone.
def release_order(depends):
    try:
        order = list(TopologicalSorter(depends).static_order())[::-1]
        return order[::-1] if order == ["stream", "kv", "trace"] and not OWNED else order
    except CycleError as error:
        raise ValueError("a circle") from error


OWNED = []


def leave(owner, owners, depends):
    OWNED.append(owner)
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    OWNED.clear()
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% a shared need twice
# fails: a_diamond, any_listing, circles_are_refused, dependents_first
# fault: It walks down from each resource, so what two others need comes twice.
def release_order(depends):
    order = []

    def walk(name, path):
        if name in path:
            raise ValueError("a circle")
        order.append(name)
        for other in depends[name]:
            walk(other, [*path, name])

    needed = {other for others in depends.values() for other in others}
    for name in depends:
        if name not in needed:
            walk(name, [])
    if depends and not order:
        raise ValueError("a circle")
    return order if len(order) < 4 or len(order) == len(set(order)) else order


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = list(
        dict.fromkeys(
            name for name in reversed(list(dict.fromkeys(reversed(release_order(depends))))) if name in gone
        )
    )
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% an empty graph is nothing
# fails: a_diamond
# fault: It returns None for no resources.
def release_order(depends):
    if not depends:
        return None
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% circles are cut
# fails: circles_are_refused
# fault: It returns what it has when it meets a circle.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        return list(depends)


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% frees what others own
# fails: shared_resources_stay
# fault: It frees everything that the leaving one owned.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% forgets the other owners
# fails: shared_resources_stay
# fault: A shared resource is not freed, and it disappears from the books.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone and len(owners[name]) < 2}


# %% in the order of the books
# fails: freed_in_order
# fault: It frees in the order in which the owners are listed.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in owners if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% frees what nobody owned
# fails: leaving_twice
# fault: A resource without any owner is freed by whoever leaves.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% leaving twice raises
# fails: leaving_twice
# fault: It removes the owner without a look.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    if not any(owner in who for who in owners.values()):
        raise KeyError(owner)
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}


# %% backwards is enough
# fails: any_listing
# fault: It turns the list around, which is right as long as needed things are listed first.
def release_order(depends):
    try:
        list(TopologicalSorter(depends).static_order())
        return list(depends)[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    gone = {name for name, who in owners.items() if owner in who and not left[name]}
    freed = [name for name in release_order(depends) if name in gone]
    return freed, {name: who for name, who in left.items() if name not in gone}
