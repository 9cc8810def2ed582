"""From the engine's event log of one request to the coarse log of D1, so that `replay` can read it.

The engine's RECEIVED..QUEUED is D's queued, ADMITTED is preprocessing, PREFILL is prefill, and
DECODE with STREAMING is decode. Preemption is a pause inside these stages, so it leaves no entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from .request import LoggedEvent

_NAMES = {
    "receive": "arrive",
    "admit": "admit",
    "start_prefill": "input_ready",
    "token": "token",
    "finish": "complete",
    "cancel": "cancel",
    "time_out": "timeout",
    "fail": "fail",
}
_ONCE = frozenset({"admit", "input_ready"})


def trace_of(events: Iterable[LoggedEvent]) -> list[tuple[str, float]]:
    """(event, time in seconds) pairs in D1's words. The first token becomes `first_token`."""
    trace: list[tuple[str, float]] = []
    seen: set[str] = set()
    for entry in events:
        name = _NAMES.get(entry.event)
        if name is None or (name in _ONCE and name in seen):
            continue
        if name == "token" and "token" not in seen:
            seen.add("token")
            name = "first_token"
        seen.add(name)
        trace.append((name, entry.timestamp))
    return trace
