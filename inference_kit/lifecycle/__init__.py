"""What a request is, how it moves, and how it ends exactly once (A1, A2, C1, D1).

No torch, no clock, no I/O: times come in as arguments.
"""

from .deadlines import ClockMarks, Deadlines, armed, first_expired, moved_on, next_due
from .endings import in_order, settle, which_end
from .metrics import (
    classify_outcome,
    durations,
    engine_metrics,
    goodput,
    mean_gap,
    percentile,
    request_metrics,
    row_of,
    service_tpot,
    service_tpot_excess,
    summarize,
    summarize_workload,
)
from .orphans import find_orphans, reconcile
from .ownership import leave, release_order
from .record import Record
from .replay import TRACE_TRANSITIONS, IllegalHistory, replay, report_of, walk
from .request import (
    DEFAULT_LIFECYCLE,
    Lifecycle,
    LoggedEvent,
    Request,
    TableLifecycle,
    settle_once,
)
from .states import (
    END_EVENTS,
    TERMINAL_STATES,
    TRANSITIONS,
    Event,
    FinishReason,
    IllegalTransition,
    State,
    next_state,
)
from .trace import trace_of

__all__ = [
    "DEFAULT_LIFECYCLE",
    "END_EVENTS",
    "TERMINAL_STATES",
    "TRACE_TRANSITIONS",
    "TRANSITIONS",
    "ClockMarks",
    "Deadlines",
    "Event",
    "FinishReason",
    "IllegalHistory",
    "IllegalTransition",
    "Lifecycle",
    "LoggedEvent",
    "Record",
    "Request",
    "State",
    "TableLifecycle",
    "armed",
    "classify_outcome",
    "durations",
    "engine_metrics",
    "find_orphans",
    "first_expired",
    "goodput",
    "in_order",
    "leave",
    "mean_gap",
    "moved_on",
    "next_due",
    "next_state",
    "percentile",
    "reconcile",
    "release_order",
    "replay",
    "report_of",
    "request_metrics",
    "row_of",
    "service_tpot",
    "service_tpot_excess",
    "settle",
    "settle_once",
    "summarize",
    "summarize_workload",
    "trace_of",
    "walk",
    "which_end",
]
