"""Who holds resources and is not there any more: leases, and the reconciliation after a restart (A12, C10).

Pure: what is held and who was heard of in, decisions out. Invariant: a holder that was heard of within
its lease is never an orphan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def find_orphans(
    held: Mapping[str, str], heard_at: Mapping[str, float], now: float, lease_s: float
) -> list[str]:
    """Resources whose holder has not been heard of for `lease_s` seconds, or never; in their order.

    Args:
        held: resource to the request that holds it.
        heard_at: request to the time of its last sign of life, in seconds.
        now: the time.
        lease_s: how long a sign of life counts; at equality the lease is over.
    """
    return [
        resource
        for resource, holder in held.items()
        if holder not in heard_at or now >= heard_at[holder] + lease_s
    ]


def reconcile(recorded: Mapping[str, Iterable[str]], held: Iterable[str]) -> tuple[list[str], list[str]]:
    """After a restart: (resources to give back, requests to fail), both in order.

    Args:
        recorded: request to the resources that the log says it has.
        held: resources that are really in use.

    A resource in use that no recorded request has is given back. A request that lacks one of its
    resources cannot go on, so it fails; what it still has is given back too.
    """
    in_use = list(held)
    lost = [request for request, wanted in recorded.items() if not set(wanted) <= set(in_use)]
    kept = {one for request, wanted in recorded.items() if request not in lost for one in wanted}
    return [resource for resource in in_use if resource not in kept], lost
