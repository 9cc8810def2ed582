"""The states of a request, the events that move it, and the one table of legal moves.

Owns `TRANSITIONS`. It holds no request and releases nothing: `request.py` does. Invariant:
every move of every request is looked up here, and a terminal state has no way out (A1, A2).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ..errors import KitError


class State(StrEnum):
    """Where a request is. Order matters: the last four are terminal."""

    RECEIVED = "received"
    TOKENIZED = "tokenized"
    QUEUED = "queued"
    ADMITTED = "admitted"
    PREFILL = "prefill"
    DECODE = "decode"
    STREAMING = "streaming"
    PREEMPTED = "preempted"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    FAILED = "failed"


class Event(StrEnum):
    """What moves a request."""

    TOKENIZE = "tokenize"
    ENQUEUE = "enqueue"
    ADMIT = "admit"
    START_PREFILL = "start_prefill"
    START_DECODE = "start_decode"
    PAUSE = "pause"
    RESUME = "resume"
    PREEMPT = "preempt"
    REQUEUE = "requeue"
    FINISH = "finish"
    CANCEL = "cancel"
    TIME_OUT = "time_out"
    FAIL = "fail"


class FinishReason(StrEnum):
    """Why a request ended. Exactly one for each request (A2)."""

    STOP_EOS = "stop_eos"
    STOP_TOKEN = "stop_token"
    STOP_STRING = "stop_string"
    LENGTH = "length"
    CLIENT_CANCEL = "client_cancel"
    SHUTDOWN = "shutdown"
    QUEUE_DEADLINE = "queue_deadline"
    TTFT_DEADLINE = "ttft_deadline"
    INTER_TOKEN_DEADLINE = "inter_token_deadline"
    OVERALL_DEADLINE = "overall_deadline"
    SLOW_CONSUMER = "slow_consumer"
    ERROR = "error"


TERMINAL_STATES = frozenset({State.FINISHED, State.CANCELLED, State.TIMED_OUT, State.FAILED})

_ENDS_EARLY = {
    Event.CANCEL: State.CANCELLED,
    Event.TIME_OUT: State.TIMED_OUT,
    Event.FAIL: State.FAILED,
}

TRANSITIONS: dict[State, dict[Event, State]] = {
    State.RECEIVED: {Event.TOKENIZE: State.TOKENIZED, **_ENDS_EARLY},
    State.TOKENIZED: {Event.ENQUEUE: State.QUEUED, **_ENDS_EARLY},
    State.QUEUED: {Event.ADMIT: State.ADMITTED, **_ENDS_EARLY},
    State.ADMITTED: {Event.START_PREFILL: State.PREFILL, **_ENDS_EARLY},
    State.PREFILL: {Event.START_DECODE: State.DECODE, Event.PREEMPT: State.PREEMPTED, **_ENDS_EARLY},
    State.DECODE: {
        Event.PAUSE: State.STREAMING,
        Event.PREEMPT: State.PREEMPTED,
        Event.FINISH: State.FINISHED,
        **_ENDS_EARLY,
    },
    State.STREAMING: {
        Event.RESUME: State.DECODE,
        Event.PREEMPT: State.PREEMPTED,
        Event.FINISH: State.FINISHED,
        **_ENDS_EARLY,
    },
    State.PREEMPTED: {Event.REQUEUE: State.QUEUED, **_ENDS_EARLY},
    State.FINISHED: {},
    State.CANCELLED: {},
    State.TIMED_OUT: {},
    State.FAILED: {},
}
"""Legal moves: `TRANSITIONS[state][event]` is the next state (A1, A15, architecture.md)."""

END_EVENTS: dict[FinishReason, Event] = {
    FinishReason.STOP_EOS: Event.FINISH,
    FinishReason.STOP_TOKEN: Event.FINISH,
    FinishReason.STOP_STRING: Event.FINISH,
    FinishReason.LENGTH: Event.FINISH,
    FinishReason.CLIENT_CANCEL: Event.CANCEL,
    FinishReason.SHUTDOWN: Event.CANCEL,
    FinishReason.QUEUE_DEADLINE: Event.TIME_OUT,
    FinishReason.TTFT_DEADLINE: Event.TIME_OUT,
    FinishReason.INTER_TOKEN_DEADLINE: Event.TIME_OUT,
    FinishReason.OVERALL_DEADLINE: Event.TIME_OUT,
    FinishReason.SLOW_CONSUMER: Event.TIME_OUT,
    FinishReason.ERROR: Event.FAIL,
}
"""The event that each finish reason stands for."""


class IllegalTransition(KitError, ValueError):
    """An event that the current state does not allow. Nothing was changed."""

    def __init__(self, state: str, event: str, legal: list[str]) -> None:
        self.state = state
        self.event = event
        self.legal = legal
        allowed = ", ".join(legal) if legal else "nothing: the state is terminal"
        super().__init__(f"event {str(event)!r} is not legal in state {str(state)!r}; legal: {allowed}")


def next_state(
    state: State, event: Event, table: Mapping[State, Mapping[Event, State]] = TRANSITIONS
) -> State:
    """The state after `event`. Raises `IllegalTransition` when the table has no such move.

    A name that is no state or no event at all is refused the same way.
    """
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, [str(name) for name in moves])
    return moves[event]
