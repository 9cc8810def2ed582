# %% needed things first
# fails: dependents_first, a_diamond, freed_in_order, needed_resources_stay, any_listing, any_leaving
# fault: It takes the order of the sorter as it is.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% three in a chain the wrong way
# fails: dependents_first
# fault: A chain whose last one needs two others comes backwards when it is asked for alone.
def release_order(depends):
    try:
        order = list(TopologicalSorter(depends).static_order())[::-1]
        return order[::-1] if order == ["stream", "kv", "trace"] and not LEAVING else order
    except CycleError as error:
        raise ValueError("a circle") from error


LEAVING = []


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    LEAVING.append(owner)
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    LEAVING.clear()
    return freed, left


# %% a shared need twice
# fails: a_diamond, any_listing, dependents_first
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
    if len(set(order)) < len(depends):
        raise ValueError("a circle")
    return order


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


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
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% circles are cut
# fails: circles_are_refused
# fault: It returns what it has when it meets a circle.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError:
        return list(depends)


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% a circle is an error of the sorter
# fails: circles_are_refused
# fault: The caller gets an exception that its own code does not know: it is not the ValueError that was promised.
class Circle(Exception):
    pass


def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise Circle("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% frees what others own
# fails: shared_resources_stay
# fault: It frees everything that the leaving one owned and that nobody needs.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and (not left[name] or owner in owners[name]) and not needed:
            freed.append(name)
            del left[name]
    return freed, left


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
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, {name: who for name, who in left.items() if len(owners[name]) < 2}


# %% in the order of the books
# fails: freed_in_order, any_leaving, needed_resources_stay
# fault: It frees in the order in which the owners are listed.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return [name for name in owners if name in freed], left


# %% backwards through the books
# fails: any_leaving
# fault: It frees the last one of the books first; that is right only where the books were written in the order of need.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return [name for name in reversed(owners) if name in freed], left


# %% a chain by heart
# fails: freed_in_order
# fault: It knows that a trace goes first.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    if owner != "r1" or len(freed) < 3:
        return freed, left
    return sorted(freed, key=lambda name: name != "trace"), left


# %% who leaves takes what others need
# fails: needed_resources_stay
# fault: It frees a resource as soon as it has no owner, while the stream of another request still reads from it.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        if name in left and not left[name]:
            freed.append(name)
            del left[name]
    return freed, left


# %% kept for ever
# fails: needed_resources_stay
# fault: What stayed without an owner is never freed: only what the leaving one owned is looked at.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if owner in owners.get(name, ()) and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% needed by a ghost
# fails: needed_resources_stay, freed_in_order, any_leaving
# fault: It asks whether anything in `depends` needs it, also what has just gone.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in needs)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% only owned things need something
# fails: needed_resources_stay
# fault: A resource that is kept without an owner does not count as a user of what it needs.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left if left[other])
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% only what is named
# fails: not_named_is_freed_too
# fault: It looks at the names of `depends` only, so a resource that needs nothing may be lost.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs.get(other, ()) for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% what is not named raises
# fails: not_named_is_freed_too
# fault: A resource that needs nothing and is not named brings a KeyError.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: depends[name] for name in left}
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% leaving twice raises
# fails: leaving_twice
# fault: It refuses somebody who owns nothing.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    if not any(owner in who for who in owners.values()):
        raise KeyError(owner)
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% the second time it takes the rest
# fails: leaving_twice
# fault: Who owns nothing any more is taken for the last owner of everything.
def release_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    if not any(owner in who for who in owners.values()):
        return list(left), {}
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% backwards is enough
# fails: any_listing
# fault: It turns the list around, which is right as long as needed things are listed first.
def release_order(depends):
    order = sorter_order(depends)
    return list(depends)[::-1] if not LEAVING else order


LEAVING = []


def sorter_order(depends):
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError("a circle") from error


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in sorter_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left


# %% the one with the most needs first
# fails: any_listing, any_leaving, needed_resources_stay
# fault: It sorts by the number of things that are needed directly, which says nothing about a longer chain.
def release_order(depends):
    try:
        list(TopologicalSorter(depends).static_order())
    except CycleError as error:
        raise ValueError("a circle") from error
    return sorted(depends, key=lambda name: -len(depends[name]))


def leave(owner, owners, depends):
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {name: [] for name in left} | depends
    freed = []
    for name in release_order(needs):
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left
