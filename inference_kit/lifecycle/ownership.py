"""Resources with several owners, given back in the order of their dependencies (C10, A15).

Owns no resource: it answers who still holds what, and in which order things may go. For programs that
hold more than one engine does by itself: pages, adapters, buffers, traces. Invariant: nothing is freed
before what depends on it, and nothing while somebody still owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter


def release_order(depends: Mapping[str, Iterable[str]]) -> list[str]:
    """All resources, each one before those that it depends on.

    Args:
        depends: resource to the resources that it needs as long as it lives.

    Raises ValueError for a circle: there is no right order then.
    """
    try:
        return list(TopologicalSorter(depends).static_order())[::-1]
    except CycleError as error:
        raise ValueError(f"these resources wait for each other: {', '.join(error.args[1])}") from error


def leave(
    owner: str, owners: Mapping[str, Iterable[str]], depends: Mapping[str, Iterable[str]]
) -> tuple[list[str], dict[str, list[str]]]:
    """An owner goes: (what is freed, in order; who owns what afterwards).

    Freed is what has no owner left, unless something that stays still needs it: then it stays too, with an
    empty list of owners, and goes together with the last one that needs it.

    Args:
        owner: who goes. Leaving twice frees nothing.
        owners: resource to its owners.
        depends: see `release_order`; a resource that is not named there needs nothing.
    """
    left = {name: [one for one in who if one != owner] for name, who in owners.items()}
    needs = {**{name: () for name in left}, **depends}
    freed = []
    for name in release_order(needs):
        # What needs `name` came before it in this order, so `left` has only those that stay.
        needed = any(name in needs[other] for other in left)
        if name in left and not left[name] and not needed:
            freed.append(name)
            del left[name]
    return freed, left
