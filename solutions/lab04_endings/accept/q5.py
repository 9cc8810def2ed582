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


# %% by holder
def find_orphans(held, heard_at, now, lease_s):
    silent = {holder: now >= heard_at.get(holder, now - lease_s) + lease_s for holder in held.values()}
    return [name for name in held if silent[held[name]]]


def reconcile(recorded, held):
    lost, back = [], list(dict.fromkeys(held))
    for request, wanted in recorded.items():
        if set(wanted) - set(held):
            lost.append(request)
            continue
        back = [one for one in back if one not in wanted]
    return [back, lost]


# %% who holds what, turned around
def find_orphans(held, heard_at, now, lease_s):
    orphans = []
    for resource, holder in held.items():
        try:
            alive_until = heard_at[holder] + lease_s
        except KeyError:
            alive_until = float("-inf")
        if not now < alive_until:
            orphans.append(resource)
    return orphans


def reconcile(recorded, held):
    users = {resource: [name for name, wanted in recorded.items() if resource in wanted] for resource in held}
    lost = tuple(name for name, wanted in recorded.items() if any(one not in users for one in wanted))
    return tuple(one for one, who in users.items() if all(name in lost for name in who)), lost


# %% who is alive, and request by request
def find_orphans(held, heard_at, now, lease_s):
    alive = {h for h, at in heard_at.items() if at + lease_s > now}
    return [r for r in held if held[r] not in alive]


def reconcile(recorded, held):
    fail = [r for r in recorded if not set(recorded[r]).issubset(held)]
    out = list(held)
    for r, w in recorded.items():
        if r not in fail:
            out = [x for x in out if x not in w]
    return out, fail
