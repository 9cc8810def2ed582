# %% a lease is met at equality
# fails: the_lease
# fault: It ends a moment too late.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now > heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% the order is lost
# fails: any_silence, the_lease, never_heard_of
# fault: Orphans come in another order.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in reversed(held.items())
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% never heard of is alive
# fails: never_heard_of
# fault: A holder without a sign of life counts as alive.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder in heard_at and now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% never heard of raises
# fails: never_heard_of
# fault: The look-up fails with a KeyError.
def find_orphans(held, heard_at, now, lease_s):
    return [resource for resource, holder in held.items() if now >= heard_at[holder] + lease_s]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% all in use is an orphan
# fails: they_fail_in_order, all_is_well, nobody_has_it, something_is_missing, shared_after_a_restart
# fault: It gives back everything that is in use.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in lost], lost


# %% a request without resources fails
# fails: all_is_well
# fault: A request that has nothing yet is taken for lost.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not wanted or not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% only the first one
# fails: nobody_has_it
# fault: It gives back one resource and stops.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    back = [resource for resource in in_use if resource not in kept]
    return (back if lost else back[:1]), lost


# %% sorted
# fails: nobody_has_it
# fault: It gives them back in the order of the alphabet.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in sorted(in_use) if resource not in kept], lost


# %% a request goes on without its block
# fails: they_fail_in_order, something_is_missing, shared_after_a_restart
# fault: A request that lacks something is not failed.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    lost = []
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% a failed request keeps the rest
# fails: something_is_missing
# fault: What a failed request still has is never given back.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {
        one
        for request, wanted in recorded.items()
        if request not in lost or len(wanted) == 2 and "own" not in held
        for one in wanted
    }
    return [resource for resource in in_use if resource not in kept], lost


# %% a failed request takes what is shared
# fails: shared_after_a_restart
# fault: It gives back all of a failed request, also what another one shares.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    gone = {one for request in lost for one in recorded[request]}
    return [one for one in in_use if one in gone or one not in kept], lost


# %% failing by the alphabet
# fails: they_fail_in_order
# fault: The requests that fail are sorted by name.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], sorted(lost)


# %% failing as a set
# fails: they_fail_in_order
# fault: The order of the requests is lost.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], list(reversed(lost))


# %% orphans by the alphabet
# fails: any_silence
# fault: The orphans are sorted by name.
def find_orphans(held, heard_at, now, lease_s):
    return sorted(
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    )


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% a lease of ten seconds
# fails: any_silence
# fault: It does not look at the length that it is given.
def find_orphans(held, heard_at, now, lease_s):
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + 10.0
    ]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% all are judged by the one who is silent longest
# fails: any_silence, the_lease
# fault: One silent holder makes orphans of all.
def find_orphans(held, heard_at, now, lease_s):
    oldest = min(heard_at.values(), default=now)
    return [r for r, holder in held.items() if holder not in heard_at or now >= oldest + lease_s]


def reconcile(recorded, held):
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost


# %% heard of at zero is never heard of
# fails: never_heard_of
# fault: 0.0 is false, so a sign of life at the start of the clock does not count.
def find_orphans(held, heard_at, now, lease_s):
    return [r for r, h in held.items() if not heard_at.get(h) or now >= heard_at[h] + lease_s]


def reconcile(recorded, held):
    lost = [r for r, w in recorded.items() if any(x not in held for x in w)]
    kept = set()
    for r in recorded:
        if r not in lost:
            kept.update(recorded[r])
    return [x for x in held if x not in kept], lost
