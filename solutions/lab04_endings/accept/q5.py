# %% loops
def find_orphans(held, heard_at, now, lease_s):
    orphans = []
    for resource in held:
        last = heard_at.get(held[resource])
        if last is None or now - last >= lease_s:
            orphans.append(resource)
    return orphans


def reconcile(recorded, held):
    back, failed = [], []
    for request in recorded:
        if any(one not in held for one in recorded[request]):
            failed.append(request)
    for resource in held:
        if not any(resource in recorded[request] for request in recorded if request not in failed):
            back.append(resource)
    return back, failed


# %% those who are alive
def find_orphans(held, heard_at, now, lease_s):
    alive = {holder for holder, at in heard_at.items() if now < at + lease_s}
    return tuple(resource for resource, holder in held.items() if holder not in alive)


def reconcile(recorded, held):
    healthy = {request for request, wanted in recorded.items() if set(wanted).issubset(held)}
    owned = set().union(*(recorded[request] for request in healthy))
    return [one for one in held if one not in owned], [one for one in recorded if one not in healthy]


# %% counts references
from collections import Counter


def find_orphans(held, heard_at, now, lease_s):
    return [name for name, who in held.items() if not now - heard_at.get(who, -1e18) < lease_s]


def reconcile(recorded, held):
    references, lost = Counter(), []
    for request, wanted in recorded.items():
        if len([one for one in wanted if one in held]) == len(wanted):
            references.update(wanted)
        else:
            lost.append(request)
    return list(filter(lambda one: references[one] == 0, held)), lost
